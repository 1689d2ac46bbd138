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

  // Origin of each implementation, and place among its kind, from the heads of the heat maps.
  const who = new Map();
  all('.heat th[data-o]').forEach(th => who.set(th.querySelector('span').nextSibling.textContent,
    { origin: th.dataset.o, place: th.querySelector('span').className.match(/m(\d+)/)[1] }));
  const filter = document.getElementById('filter');
  const formOf = new Map(all('.heat tbody tr').map(row => [row.cells[0].title.split(': ')[0], row.dataset.f]));
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

  // The ratio of each cell to the best of its scenario, by machine and group, scenario and implementation. What is in no
  // ranking has none.
  const cells = new Map();
  all('.heat').forEach(table => all('tbody tr', table).forEach(row => {
    const key = table.dataset.g + ' ' + row.cells[0].title.split(': ')[0];
    const of = cells.get(key) ?? cells.set(key, new Map()).get(key);
    [...row.cells].forEach((cell, i) => /h\d/.test(cell.className) && of.set(
      table.tHead.rows[0].cells[i].querySelector('span').nextSibling.textContent, Math.max(cell.dataset.v, 5e-5)));
  }));
  // One box for each scenario, in the ranking of its group.
  const boxes = new Map();
  all('.tabs').forEach(tabs => {
    const details = element('details', '', { className: 'choice' });
    details.append(element('summary', 'Choose scenarios'));
    new Set(all('.tab', tabs).flatMap(tab => tab.dataset.s.split(' ')).filter(Boolean)).forEach(name => {
      const label = element('label', ''), box = element('input', '', { type: 'checkbox', checked: true, value: name });
      label.append(box, name);
      details.append(label);
      boxes.set(name, [...boxes.get(name) ?? [], box]);
      box.onchange = () => {
        boxes.get(name).forEach(other => other.checked = box.checked);
        show();
      };
    });
    tabs.querySelector('h3').after(details);
  });
  const picked = name => boxes.get(name)?.[0].checked ?? true;
  const baseline = document.getElementById('baseline');
  [...who.keys()].sort().forEach(name => baseline.append(element('option', name)));

  const mean = logs => Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  const text = ratio => ratio >= 1000 ? ratio.toFixed(0) : ratio >= 0.1 ? ratio.toFixed(2) : ratio.toPrecision(2);
  // A view over fewer scenarios than its own is computed anew from its cells, without what only the records tell: tiers
  // and intervals. With a baseline each view has a column of ratios to it, over the cells that both have.
  const originals = new Map();
  const rank = (tab, isChosen) => {
    if (!tab.dataset.s) return;
    const table = tab.querySelector('.rank');
    const own = tab.dataset.s.split(' '), chosen = own.filter(isChosen);
    tab.querySelector('.chosen')?.remove();
    if (chosen.length < own.length) tab.prepend(element('p', `Over ${chosen.length} chosen of ${own.length} scenarios: the means of`
      + ' their cells. Tiers and intervals need the records, so these are not computed.', { className: 'note chosen' }));
    if (!table) return;
    if (!originals.has(table)) originals.set(table, [table.tHead.rows[0], table.tBodies[0]].map(part => part.cloneNode(true)));
    const sorted = table.tHead.querySelector('[aria-sort]');
    const dirty = table.dataset.dirty;
    if (!dirty && chosen.length == own.length && !baseline.value) return;
    table.dataset.dirty = chosen.length < own.length || baseline.value ? 1 : '';
    sorted?.removeAttribute('aria-sort');
    table.tHead.querySelector('.to')?.remove();
    const body = originals.get(table)[1].cloneNode(true);
    table.tBodies[0].replaceWith(body);
    const ratios = chosen.map(name => cells.get(tab.parentElement.dataset.g + ' ' + name)).filter(of => of?.size);
    const rows = all('tr[data-o]', body).map(row => {
      const name = row.querySelector('i').nextSibling.textContent.trim();
      const has = ratios.filter(of => of.has(name));
      return { row, name, has, mean: has.length && mean(has.map(of => Math.log(of.get(name)))) };
    });
    if (chosen.length < own.length) {
      all('.line', body).forEach(line => line.remove());
      rows.sort((a, b) => b.has.length - a.has.length || b.mean - a.mean);
      rows.forEach(({ row, has, mean }) => {
        const told = has.length * 2 >= ratios.length && has.length;
        row.cells[0].textContent = '–';
        row.cells[3].replaceChildren(element('b', told ? text(mean) : '–'));
        row.cells[4].textContent = '';
        row.cells[5].replaceChildren();
        if (told) {
          const bar = element('span', '', { className: 'bar' }), filled = element('i', '');
          filled.style.width = Math.min(mean, 1) * 100 + '%';
          bar.append(filled);
          row.cells[5].append(bar);
        }
        row.cells[6].textContent = `${has.length}/${ratios.length}`;
        row.classList.toggle('partial', has.length < ratios.length);
        body.append(row);
      });
    }
    if (baseline.value) {
      const head = element('th', 'to ' + baseline.value, { className: 'n to' });
      table.tHead.rows[0].append(head);
      rows.forEach(({ row, name, has }) => {
        const both = has.filter(of => of.has(baseline.value));
        const cell = element('td', both.length
          ? text(mean(both.map(of => Math.log(of.get(name) / of.get(baseline.value))))) : '–', { className: 'n' });
        if (both.length) cell.append(element('small', `${both.length} cells`));
        row.append(cell);
      });
      sortable(head, table);
    }
  };
  // With a baseline the heat map has ratios to it, without intervals.
  const rebase = () => {
    const section = document.getElementById('heat');
    section.querySelector('.chosen')?.remove();
    if (baseline.value) section.querySelector('.note').after(element('p', `Ratios are to ${baseline.value} now: the quotient of both`
      + ' ratios to the best, and so without an interval. Colours are as before.', { className: 'note chosen' }));
    all('.heat').forEach(retable);
  };
  const retable = table => {
    const heads = [...table.tHead.rows[0].cells];
    const at = heads.findIndex((th, i) => i && th.querySelector('span').nextSibling.textContent == baseline.value);
    all('tbody tr', table).forEach(row => {
      const base = row.cells[at]?.dataset;
      const to = baseline.value && +(base?.r ?? base?.v);
      all('td[data-v]', row).forEach(cell => {
        const small = cell.querySelector('small');
        if (!small) return;
        cell.dataset.r ??= cell.dataset.v;
        if (baseline.value && !originals.has(small)) originals.set(small, small.cloneNode(true));
        if (!originals.has(small)) return;
        small.replaceChildren(...originals.get(small).cloneNode(true).childNodes);
        cell.dataset.v = cell.dataset.r;
        if (baseline.value) {
          const ratio = to && cell.dataset.r / to;
          cell.dataset.v = ratio || '';
          small.replaceChildren(element('b', ratio ? text(ratio) : '–'));
        }
      });
    });
  };

  let changed = false;

  // Filter and toggles: rows, columns and charts that hold no match, or are unchecked, are put away.
  const show = () => {
    const wanted = filter.value.trim().toLowerCase();
    const holds = text => text.toLowerCase().includes(wanted);
    const names = scenarios.filter(holds);
    // Rankings and matrices do not name scenarios. A filter that matches scenarios alone keeps every implementation there.
    const alone = titles.some(holds) && ![...who].some(([name, { origin }]) => holds(name) || holds(origin));
    const origins = unchecked('origin'), forms = unchecked('form');
    const isChosen = name => picked(name) && (!alone || names.includes(name)) && !forms.has(formOf.get(name));
    all('.tab').forEach(tab => rank(tab, isChosen));
    const formed = element => !forms.has(element.closest('[data-f]')?.dataset.f);
    const present = row => !origins.has(row.dataset.o ?? who.get(row.cells[0]?.textContent)?.origin);
    all('figure').forEach(figure => {
      figure.hidden = !formed(figure) || !measures(figure, scenarios.filter(picked))
        || !holds(figure.textContent) && !measures(figure, names);
      const away = new Set();
      all('.data tbody tr', figure).forEach(row => {
        row.hidden = !present(row);
        if (row.hidden) away.add(who.get(row.cells[0].textContent).place);
      });
      all('.chart path', figure).forEach(path =>
        path.classList.toggle('away', away.has(path.getAttribute('class').match(/^[lrimdf](\d+)/)?.[1])));
      all('.keys li', figure).forEach(key => key.hidden = origins.has(who.get(key.textContent)?.origin));
    });
    const unpicked = row => row.closest('.heat,.few') && !picked((row.cells[0].title || row.cells[0].textContent).split(': ')[0]);
    all('.sort tbody tr:not(.line)').forEach(row => row.hidden = !formed(row) || !present(row) || unpicked(row)
      || !(alone && row.closest('.rank,.matrix,.across')) && !holds(row.closest('.heat') ? row.cells[0].title
        : row.textContent + ' ' + (row.closest('[data-f]')?.querySelector('summary').textContent ?? '')));
    all('details[data-f]').forEach(details => details.hidden = !picked(details.querySelector('summary').textContent)
      || all('tbody tr', details).every(row => row.hidden));
    // Implementations are columns of the heat map: a match there keeps the rows and shows that column.
    all('.heat').forEach(table => {
      const heads = all('thead th', table);
      const found = heads.map((th, i) => i && wanted && th.textContent.toLowerCase().includes(wanted));
      const any = found.some(Boolean);
      all('tr', table).forEach(row => {
        if (any) row.hidden = !formed(row) || row.parentElement.tagName == 'TBODY' && unpicked(row);
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
    write();
  };
  filter.oninput = show;
  baseline.onchange = () => {
    rebase();
    show();
  };
  all('[data-origin],[data-form]').forEach(box => box.onchange = show);

  // The fragment has the place and, after a question mark, the choice: a link to the page as it is seen.
  const place = () => location.hash.slice(1).split('?')[0];
  const list = of => [...of].map(name => encodeURIComponent(name).replaceAll('%2F', '/')).join(',');
  const write = () => {
    const unpicked = [...boxes.keys()].filter(name => !picked(name));
    const kept = [...boxes.keys()].filter(picked);
    const choice = [['filter', list(filter.value ? [filter.value] : [])], ['without', list(unchecked('origin'))],
      ['forms', list(unchecked('form'))], ['to', list(baseline.value ? [baseline.value] : [])],
      kept.length < unpicked.length ? ['only', list(kept)] : ['not', list(unpicked)]]
      .filter(([key, value]) => value || key == 'only').map(pair => pair.join('=')).join('&');
    const fragment = '#' + place() + (choice && '?' + choice);
    if (fragment != (location.hash || '#')) history.replaceState(null, '', fragment == '#' ? location.href.split('#')[0] : fragment);
  };
  const read = () => {
    const choice = new Map(location.hash.split('?').slice(1).join('?').split('&').map(pair => {
      const [key, value] = pair.split('=');
      try {
        return [key, (value ?? '').split(',').filter(Boolean).map(decodeURIComponent)];
      } catch {
        return [key, []];
      }
    }));
    const of = key => choice.get(key) ?? [];
    filter.value = of('filter').join(',');
    all('[data-origin]').forEach(box => box.checked = !of('without').includes(box.dataset.origin));
    all('[data-form]').forEach(box => box.checked = !of('forms').includes(box.dataset.form));
    boxes.forEach((all, name) => all.forEach(box =>
      box.checked = choice.has('only') ? of('only').includes(name) : !of('not').includes(name)));
    baseline.value = who.has(of('to')[0]) ? of('to')[0] : '';
    rebase();
    show();
  };
  // A link leads to what it names, also where that has been put away; one that is broken leads nowhere.
  const named = () => {
    try {
      return document.getElementById(decodeURIComponent(place()));
    } catch {
      return null;
    }
  };
  const follow = () => {
    const target = named();
    if (!target) return;
    if (target.closest('[hidden]')) {
      filter.value = '';
      all('[data-origin],[data-form],.choice input').forEach(box => box.checked = true);
      show();
    }
    const details = target.closest('details');
    if (details) details.open = true;
    target.scrollIntoView();
  };

  // Sort by a column: numbers by value, what has none last, texts as people order them.
  const value = cell => parseFloat(cell?.dataset.v ?? cell?.textContent);
  const sortable = (th, table) => {
    const column = th.cellIndex;
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
  };
  all('.sort').forEach(table => {
    table.classList.add('on');
    all('thead th', table).forEach(th => sortable(th, table));
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

  addEventListener('hashchange', () => {
    location.hash.includes('?') ? read() : write();
    follow();
  });
  // A browser may have kept what was typed and unchecked before the page was loaded anew.
  location.hash.includes('?') ? read() : show();
  follow();
})();
