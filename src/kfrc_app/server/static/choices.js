// What the user chose of one table, as the server understands it; kept for this tab, so that loading the page again loses nothing.

const PLACE = "kfrc";

export const chosen = { table: null, run: null, sheet: null, decimal: null, thousands: null, columns: {}, answered: [] };

export function reset(table = null) {
  Object.assign(chosen, { table, run: null, sheet: null, decimal: null, thousands: null, columns: {}, answered: [] });
  keep();
}

export function keep() {
  try {
    sessionStorage.setItem(PLACE, JSON.stringify(chosen));
  } catch {
    // A browser that keeps nothing works too, until the page is loaded again.
  }
}

export function restore() {
  try {
    Object.assign(chosen, JSON.parse(sessionStorage.getItem(PLACE) || "{}"));
  } catch {
    reset();
  }
  return chosen.table !== null;
}

export function reading() {
  const { sheet, decimal, thousands, columns } = chosen;
  return { sheet, decimal, thousands, columns };
}
