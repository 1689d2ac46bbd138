(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const tip = document.getElementById('tip');
  all('.tools,.copy').forEach(e => e.hidden = false);

  // The theme: the system's until the button is pressed.
  document.getElementById('theme').onclick = () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme == 'dark' : matchMedia('(prefers-color-scheme:dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  };

  // Filter: rows and charts that hold no match are put away.
  const filter = document.getElementById('filter');
  const scenarios = all('.heat tbody th').map(th => th.title.split(': ')[0]);
  // A chart belongs to the scenarios that its own command would measure.
  const measures = (figure, names) => {
    const pattern = figure.querySelector('code').textContent.match(/ -s '(.*?)'/);
    try {
      return names.some(name => new RegExp(pattern[1]).test(name));
    } catch {
      return false;
    }
  };
  filter.oninput = () => {
    const wanted = filter.value.trim().toLowerCase();
    const holds = text => text.toLowerCase().includes(wanted);
    const names = scenarios.filter(holds);
    all('figure').forEach(f => f.hidden = !holds(f.textContent) && !measures(f, names));
    all('.sort tbody tr:not(.line)').forEach(tr =>
      tr.hidden = !holds(tr.closest('.heat') ? tr.cells[0].title : tr.textContent));
    // Implementations are columns of the heat map: a match there keeps the rows and shows that column.
    all('.heat').forEach(table => {
      const heads = all('thead th', table);
      const found = heads.map((th, i) => i && wanted && th.textContent.toLowerCase().includes(wanted));
      const any = found.some(Boolean);
      all('tr', table).forEach(tr => {
        if (any) tr.hidden = false;
        [...tr.cells].forEach((cell, i) => cell.hidden = any && i > 0 && !found[i]);
      });
    });
  };

  // Sort by a column: numbers by value, what has none last, texts as people order them.
  const value = cell => {
    const number = parseFloat(cell?.dataset.v ?? cell?.textContent);
    return isNaN(number) ? -Infinity : number;
  };
  all('.sort').forEach(table => {
    table.classList.add('on');
    all('thead th', table).forEach((th, column) => th.onclick = () => {
      const numbers = th.classList.contains('n') || (column > 0 && table.classList.contains('heat'));
      const sorted = th.getAttribute('aria-sort');
      const down = sorted ? sorted == 'ascending' : numbers;
      all('thead th', table).forEach(other => other.removeAttribute('aria-sort'));
      th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const body = table.tBodies[0];
      all('.line', body).forEach(line => line.hidden = true);
      [...body.rows].sort((a, b) => {
        const [x, y] = [a.cells[column], b.cells[column]];
        const order = numbers ? (value(x) - value(y)) || 0
          : (x?.textContent ?? '').localeCompare(y?.textContent ?? '', 'en', { numeric: true });
        return down ? -order : order;
      }).forEach(row => body.append(row));
    });
  });

  // Hover: the nearest column or row of the chart's own data table.
  const nearest = (places, at) => places.reduce((best, place, i) =>
    Math.abs(place - at) < Math.abs(places[best] - at) ? i : best, 0);
  const line = (name, text) => {
    const div = document.createElement('div'), a = document.createElement('span'), b = document.createElement('span');
    a.textContent = name;
    b.textContent = text;
    div.append(a, b);
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
      const head = document.createElement('b');
      let lines;
      if (levels || xs && !ys) {
        const column = (levels ? nearest(levels, y) : nearest(xs, x)) + 1;
        head.textContent = heads[column].textContent;
        lines = rows.map(row => line(row.cells[0].textContent, row.cells[column].textContent));
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
})();
