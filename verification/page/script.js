// The report's page: filter, anchors that unfold, buttons that copy. Without it everything can still be read and unfolded.
'use strict';
const tools = document.querySelector('.tools'), box = document.getElementById('filter'), said = document.getElementById('matches');
const items = [...document.querySelectorAll('[data-item]')], words = items.map(item => item.textContent.toLowerCase());
function show() {
  const asked = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  items.forEach((item, at) => { item.hidden = !asked.every(word => words[at].includes(word)); found += !item.hidden; });
  document.querySelectorAll('[data-group], main > section').forEach(group => {
    group.hidden = asked.length > 0 && !group.querySelector('[data-item]:not([hidden])');
    if (asked.length > 0 && !group.hidden && group.tagName === 'DETAILS') group.open = true;
  });
  said.textContent = asked.length ? found + ' of ' + items.length + ' entries match' : '';
}
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest('[hidden]')) { box.value = ''; show(); }
  for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  target.scrollIntoView();
}
box.addEventListener('input', show);
document.getElementById('unfold').addEventListener('click', event => {
  const open = event.target.getAttribute('aria-pressed') !== 'true';
  document.querySelectorAll('main details').forEach(one => { one.open = open; });
  event.target.setAttribute('aria-pressed', open);
  event.target.textContent = open ? 'Fold everything' : 'Unfold everything';
});
document.querySelectorAll('.command').forEach(command => {
  const button = document.createElement('button');
  button.type = 'button'; button.className = 'copy'; button.textContent = 'Copy';
  command.append(button);
});
document.addEventListener('click', event => {
  if (!event.target.matches('.copy')) return;
  const code = event.target.previousElementSibling, range = document.createRange(), chosen = getSelection();
  range.selectNodeContents(code); chosen.removeAllRanges(); chosen.addRange(range);
  event.target.textContent = document.execCommand('copy') ? 'Copied' : 'Selected';
  setTimeout(() => { event.target.textContent = 'Copy'; }, 1500);
});
window.addEventListener('hashchange', reveal);
tools.hidden = false;
if (matchMedia('(max-width: 46rem)').matches) document.getElementById('contents').open = false;
reveal();
