(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const tip = document.getElementById('tip');
  const element = (name, text, of) => Object.assign(document.createElement(name), { textContent: text, ...of });

  // What nothing could be done with without scripts is not in the page: tools, buttons, links.
  all('.tools').forEach(tools => tools.hidden = false);
  all('.cmd').forEach(cmd => cmd.append(element('button', 'Copy', { type: 'button', className: 'copy' })));
  all('figure').forEach(figure => figure.querySelector('b').append(' ', element('a', '#',
    { className: 'link', href: '#' + figure.id, ariaLabel: 'Link to this chart' })));
  all('.scroll').forEach(scroll => scroll.tabIndex = 0);

  // The theme: the system's until the button is pressed.
  document.getElementById('theme').onclick = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme == 'dark' : matchMedia('(prefers-color-scheme:dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  };

  // Who is who: origin, and place among its kind, from the heads of the heat maps.
  const who = new Map();
  all('.heat th[data-o]').forEach(th => who.set(th.querySelector('span').nextSibling.textContent,
    { origin: th.dataset.o, place: th.querySelector('span').className.match(/m(\d+)/)[1] }));
  const filter = document.getElementById('filter');
  const titles = all('.heat tbody th').map(th => th.title);
  const scenarios = titles.map(title => title.split(': ')[0]);
  // A chart belongs to the scenarios that its own command would measure.
  const measures = (figure, names) => {
    const pattern = figure.querySelector('code')?.textContent.match(/ -s '(.*?)'/);
    try {
      return names.some(name => new RegExp(pattern[1]).test(name));
    } catch {
      return false;
    }
  };
  const unchecked = kind => new Set(all(`[data-${kind}]:not(:checked)`).map(box => box.dataset[kind]));

  let changed = false;

  // Filter and toggles: rows, columns and charts that hold no match, or are unchecked, are put away.
  const show = () => {
    const wanted = filter.value.trim().toLowerCase();
    const holds = text => text.toLowerCase().includes(wanted);
    const names = scenarios.filter(holds);
    // Rankings and matrices do not name scenarios. A filter that matches scenarios alone keeps every implementation there.
    const alone = titles.some(holds) && ![...who].some(([name, { origin }]) => holds(name) || holds(origin));
    const origins = unchecked('origin'), forms = unchecked('form');
    const formed = element => !forms.has(element.closest('[data-f]')?.dataset.f);
    const present = row => !origins.has(row.dataset.o ?? who.get(row.cells[0]?.textContent)?.origin);
    all('figure').forEach(figure => {
      figure.hidden = !formed(figure) || !holds(figure.textContent) && !measures(figure, names);
      const away = new Set();
      all('.data tbody tr', figure).forEach(row => {
        row.hidden = !present(row);
        if (row.hidden) away.add(who.get(row.cells[0].textContent).place);
      });
      all('.chart path', figure).forEach(path =>
        path.classList.toggle('away', away.has(path.getAttribute('class').match(/^[lrimdf](\d+)/)?.[1])));
      all('.keys li', figure).forEach(key => key.hidden = origins.has(who.get(key.textContent)?.origin));
    });
    all('.sort tbody tr:not(.line)').forEach(row => row.hidden = !formed(row) || !present(row)
      || !(alone && row.closest('.rank,.matrix,.across')) && !holds(row.closest('.heat') ? row.cells[0].title
        : row.textContent + ' ' + (row.closest('[data-f]')?.querySelector('summary').textContent ?? '')));
    all('details[data-f]').forEach(details => details.hidden = all('tbody tr', details).every(row => row.hidden));
    // Implementations are columns of the heat map: a match there keeps the rows and shows that column.
    all('.heat').forEach(table => {
      const heads = all('thead th', table);
      const found = heads.map((th, i) => i && wanted && th.textContent.toLowerCase().includes(wanted));
      const any = found.some(Boolean);
      all('tr', table).forEach(row => {
        if (any) row.hidden = !formed(row);
        [...row.cells].forEach((cell, i) =>
          cell.hidden = i > 0 && (any && !found[i] || origins.has(heads[i].dataset.o)));
      });
    });
    // Where one form is left, rankings show its view; otherwise the one over all cells.
    const left = all('[data-form]:checked').map(box => box.dataset.form);
    if (forms.size || changed) all('.tabs').forEach(tabs => {
      const labels = all(':scope>label', tabs);
      const view = left.length == 1 && labels.find(label => label.textContent == left[0]) || labels[0];
      if (view) document.getElementById(view.htmlFor).checked = true;
    });
    changed = forms.size > 0;
  };
  filter.oninput = show;
  all('[data-origin],[data-form]').forEach(box => box.onchange = show);

  // A link leads to what it names, also where that has been put away; one that is broken leads nowhere.
  const named = () => {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null;
    }
  };
  const follow = () => {
    const target = named();
    if (!target) return;
    if (target.closest('[hidden]')) {
      filter.value = '';
      all('[data-origin],[data-form]').forEach(box => box.checked = true);
      show();
    }
    const details = target.closest('details');
    if (details) details.open = true;
    target.scrollIntoView();
  };

  // Sort by a column: numbers by value, what has none last, texts as people order them.
  const value = cell => parseFloat(cell?.dataset.v ?? cell?.textContent);
  all('.sort').forEach(table => {
    table.classList.add('on');
    all('thead th', table).forEach((th, column) => {
      th.tabIndex = 0;
      th.onkeydown = event => {
        if (event.key == 'Enter' || event.key == ' ') {
          event.preventDefault();
          th.onclick();
        }
      };
      th.onclick = () => {
        const numbers = th.classList.contains('n') || (column > 0 && table.classList.contains('heat'));
        const sorted = th.getAttribute('aria-sort');
        const down = sorted ? sorted == 'ascending' : numbers;
        all('thead th', table).forEach(other => other.removeAttribute('aria-sort'));
        th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const body = table.tBodies[0];
        all('.line', body).forEach(line => line.hidden = true);
        [...body.rows].sort((a, b) => {
          const [x, y] = [a.cells[column], b.cells[column]];
          if (numbers && (isNaN(value(x)) || isNaN(value(y)))) return isNaN(value(x)) - isNaN(value(y));
          const order = numbers ? value(x) - value(y)
            : (x?.textContent ?? '').localeCompare(y?.textContent ?? '', 'en', { numeric: true });
          return down ? -order : order;
        }).forEach(row => body.append(row));
      };
    });
  });

  // Hover: the nearest column or row of the chart's own data table.
  const nearest = (places, at) => places.reduce((best, place, i) =>
    Math.abs(place - at) < Math.abs(places[best] - at) ? i : best, 0);
  const line = (name, text) => {
    const div = element('div', '');
    div.append(element('span', name), element('span', text));
    return div;
  };
  all('.chart').forEach(svg => {
    const numbers = text => text ? text.split(' ').map(Number) : null;
    const xs = numbers(svg.dataset.x), ys = numbers(svg.dataset.y), levels = numbers(svg.dataset.l);
    const table = svg.closest('figure').querySelector('.data');
    svg.onpointermove = event => {
      const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
      const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows];
      const head = element('b', '');
      let lines;
      if (levels || xs && !ys) {
        const column = (levels ? nearest(levels, y) : nearest(xs, x)) + 1;
        head.textContent = heads[column].textContent;
        lines = rows.filter(row => !row.hidden).map(row => line(row.cells[0].textContent, row.cells[column].textContent));
      } else {
        const at = xs ? nearest(xs.map((px, i) => Math.hypot(px - x, ys[i] - y)), 0) : nearest(ys, y);
        const cells = [...rows[at].cells];
        head.textContent = cells[0].textContent;
        lines = cells.slice(1).map((cell, i) => line(heads[i + 1].textContent, cell.textContent));
      }
      tip.replaceChildren(head, ...lines);
      tip.hidden = false;
      const left = event.clientX + 16, top = event.clientY + 16;
      tip.style.left = Math.max(4, Math.min(left, innerWidth - tip.offsetWidth - 6)) + 'px';
      tip.style.top = (top + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 12 : top) + 'px';
    };
    svg.onpointerleave = () => tip.hidden = true;
  });

  // Copy; a page opened from disk may have no clipboard, so the text is selected instead.
  all('.copy').forEach(button => button.onclick = async () => {
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => button.textContent = 'Copy', 1500);
  });

  addEventListener('hashchange', follow);
  // A browser may have kept what was typed and unchecked before the page was loaded anew.
  show();
  follow();
})();
