(() => {
  const lanes = document.querySelector('.lanes');
  const root = document.documentElement;
  const end = +getComputedStyle(lanes).getPropertyValue('--end') + 1;
  let unit = 26;
  // `about` stays where it is on the screen, from the left edge of the lanes.
  const zoom = (to, about = lanes.clientWidth / 2) => {
    const next = Math.min(400, Math.max(2, to));
    const at = (lanes.scrollLeft + about) / unit;
    unit = next;
    root.style.setProperty('--u', unit + 'px');
    lanes.scrollLeft = at * unit - about;
  };
  const fit = () => zoom((lanes.clientWidth - 120) / end);
  document.getElementById('zoom').hidden = false;
  document.getElementById('in').onclick = () => zoom(unit * 1.5);
  document.getElementById('out').onclick = () => zoom(unit / 1.5);
  document.getElementById('fit').onclick = fit;
  lanes.addEventListener('wheel', e => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    zoom(unit * Math.exp(-e.deltaY / 300), e.clientX - lanes.getBoundingClientRect().left);
  }, { passive: false });
  lanes.addEventListener('keydown', e => {
    if (e.key == '+') zoom(unit * 1.5);
    if (e.key == '-') zoom(unit / 1.5);
    if (e.key == '0') fit();
  });
  if (end * unit < lanes.clientWidth - 120) fit();
  const copy = document.getElementById('copy');
  if (copy) {
    copy.hidden = false;
    copy.onclick = () => navigator.clipboard.writeText(copy.previousElementSibling.textContent)
      .then(() => copy.textContent = 'copied');
  }
})();
