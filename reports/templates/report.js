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
  filter.oninput = () => {
    const wanted = filter.value.trim().toLowerCase();
    all('.sort tbody tr:not(.line),figure').forEach(e => {
      const head = e.closest('.heat') ? e.cells[0].textContent : e.textContent;
      e.hidden = !head.toLowerCase().includes(wanted);
    });
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

  // Sort by a column: numbers by value, the rest by text.
  const value = cell => {
    const text = cell ? cell.dataset.v ?? cell.textContent.trim() : '';
    const number = parseFloat(text.replace(/[^0-9.eE+-]/g, ''));
    return isNaN(number) ? [1, text] : [0, number];
  };
  all('.sort').forEach(table => {
    table.classList.add('on');
    all('thead th', table).forEach((th, column) => th.onclick = () => {
      const down = th.getAttribute('aria-sort') == 'ascending' || (column > 0 && !th.hasAttribute('aria-sort') && table.classList.contains('heat'));
      all('thead th', table).forEach(other => other.removeAttribute('aria-sort'));
      th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const body = table.tBodies[0];
      all('.line', body).forEach(line => line.hidden = true);
      const text = column == 0 && !th.classList.contains('n');
      [...body.rows].sort((a, b) => {
        const [ka, va] = value(a.cells[column]), [kb, vb] = value(b.cells[column]);
        const order = text ? a.cells[0].textContent.localeCompare(b.cells[0].textContent, 'en', { numeric: true })
          : ka - kb || (ka ? va.localeCompare(vb) : va - vb);
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
    const xs = numbers(svg.dataset.x), ys = numbers(svg.dataset.y);
    const table = svg.closest('figure').querySelector('.data');
    svg.onpointermove = event => {
      const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
      const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows];
      const head = document.createElement('b');
      let lines;
      if (xs && !ys) {
        const column = nearest(xs, x) + 1;
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
