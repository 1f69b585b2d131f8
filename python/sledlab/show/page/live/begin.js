// Replaces static figures that have embedded data by interactive plots.
for (const holder of document.querySelectorAll('figure > script[type="application/json"]')) {
  const figure = holder.parentElement, picture = figure.querySelector("svg");
  const title = (figure.querySelector("h3") || picture.querySelector("title") || figure).textContent.trim();
  const panels = JSON.parse(holder.textContent), height = picture.getBoundingClientRect().height || 300;
  for (const panel of panels) {
    const Kind = panel.map ? TimeMap : panel.rows ? Bars : Curves;
    plots.push(new Kind(panel, figure, title, Math.max(180, height / panels.length - 40)));
  }
  figure.classList.add("explored");  // only now: whatever fails leaves the picture
}
document.documentElement.dataset.live = Math.round(performance.now());
