/** PostgreSQL's text of a statement in the words of SQLite. */
export interface Translated {
  text: string
  /** For each `?` of the text, the index of its value. */
  order: readonly number[]
  /** Columns whose 0 or 1 is a boolean: those written as `…::boolean as "name"`. */
  booleans: readonly string[]
}

/** PostgreSQL's text → SQLite's. Casts, locks of rows and the collation of bytes go, because SQLite has no types to
 *  convert, one writer, and that order already. `= any($1)` reads the list as JSON,
 *  `= any(array(…))` becomes `in (…)`. The place of a row, `ctid`, is its number, `rowid`. `strpos` becomes `instr`,
 *  `greatest` and `least` become `max` and `min`: their arguments must not be null, with which SQLite answers null.
 *  `json_object_agg`, `json_agg` and `json_array_elements` have other names there; without rows, PostgreSQL answers null
 *  to the first two and SQLite an empty object or list. */
export function toSqlite(text: string): Translated {
  const order: number[] = []
  const booleans = [...text.matchAll(/::boolean as "?(\w+)/g)].map(([, name = '']) => name)
  const translated = text
    .replaceAll(/::\w+(\[\])?/g, '')
    .replaceAll(/= any\(array\(([^()]*)\)\)/g, 'in ($1)')
    .replaceAll(/= any\((\$\d+)\)/g, 'in (select value from json_each($1))')
    .replaceAll(/<> all\((\$\d+)\)/g, 'not in (select value from json_each($1))')
    .replaceAll(/ for (no key )?(update|share)( of \w+)?( skip locked)?/g, '')
    .replaceAll(/\bctid\b/g, 'rowid')
    .replaceAll(/\bstrpos\(/g, 'instr(')
    .replaceAll(/\bgreatest\(/g, 'max(')
    .replaceAll(/\bleast\(/g, 'min(')
    .replaceAll('json_object_agg(', 'json_group_object(')
    .replaceAll('json_agg(', 'json_group_array(')
    .replaceAll('json_array_elements(', 'json_each(')
    .replaceAll(' collate "C"', '')
    .replaceAll(/\$(\d+)/g, (_, number) => {
      order.push(Number(number) - 1)
      return '?'
    })
  return { text: translated, order, booleans }
}
