/** Counters, gauges and histograms in the Prometheus text format (0.0.4). A client library would add a default registry
 *  and its own collectors, for little benefit. */
export interface Registry {
  /** Monotonic. Every combination of label values is a time series, so values must come from short fixed lists, never from
   *  user input. */
  counter(name: string, help: string, labels?: readonly string[]): (values?: readonly string[], by?: number) => void
  /** Read on each scrape: one value, or one per combination of labels. */
  gauge(name: string, help: string, read: () => number): void
  /** A counter maintained elsewhere. */
  total(name: string, help: string, read: () => number): void
  /** The same with labels. */
  totals(name: string, help: string, labels: readonly string[], read: () => readonly Sample[]): void
  gauges(name: string, help: string, labels: readonly string[], read: () => readonly Sample[]): void
  /** Buckets by ascending upper bounds. */
  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    labels?: readonly string[],
  ): (value: number, values?: readonly string[]) => void
  /** All families, also those without samples. */
  families(): readonly Family[]
  /** The exposition text. Omits a gauge that throws. */
  text(): string
}

export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
}

export interface Sample {
  values: readonly string[]
  value: number
}

/** Content type of the exposition. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function createRegistry(): Registry {
  const families: (Family & { lines: () => string[] })[] = []
  const add = (family: Family, lines: () => string[]) => {
    families.push({ ...family, lines })
  }
  const sampled =
    (type: 'gauge' | 'counter'): Registry['gauges'] =>
    (name, help, labels, read) => {
      add({ name, type, help, labels }, () =>
        read().map(({ values, value }) => line(name, labelled(labels, values), value)),
      )
    }

  return {
    counter: (name, help, labels = []) => {
      const totals = createSeries(labels, () => ({ total: 0 }))
      add({ name, type: 'counter', help, labels }, () => totals.lines((key, { total }) => [line(name, key, total)]))
      return (values, by = 1) => {
        totals.of(values).total += by
      }
    },
    gauge: (name, help, read) => add({ name, type: 'gauge', help, labels: [] }, () => [line(name, '', read())]),
    total: (name, help, read) => add({ name, type: 'counter', help, labels: [] }, () => [line(name, '', read())]),
    totals: sampled('counter'),
    gauges: sampled('gauge'),
    histogram: (name, help, bounds, labels = []) => {
      const rows = createSeries(labels, () => ({ counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 }))
      add({ name, type: 'histogram', help, labels }, () =>
        rows.lines((key, { counts, sum }) => bucketLines(name, key, bounds, counts, sum)),
      )
      return (value, values) => {
        const row = rows.of(values)
        let at = 0
        while (at < bounds.length && value > bounds[at]!) at++
        row.counts[at]!++
        row.sum += value
      }
    },
    families: () => families,
    text: () =>
      families
        .flatMap(({ name, type, help, lines }) => {
          const found = linesOf(lines)
          return found.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...found]
        })
        .concat('')
        .join('\n'),
  }
}

/** The time series of a family. A counted event only joins its label values; the text of the labels is made on a
 *  scrape. Without labels, the only series exists from the start. */
function createSeries<T>(labels: readonly string[], empty: () => T) {
  const known = new Map<string, { values: readonly string[]; content: T }>()
  const of = (values: readonly string[] = []): T => {
    const key = values.join('\n')
    let found = known.get(key)
    if (found === undefined) {
      found = { values, content: empty() }
      known.set(key, found)
    }
    return found.content
  }
  if (labels.length === 0) of()
  return {
    of,
    lines: (write: (labels: string, content: T) => string[]) =>
      [...known.values()].flatMap(({ values, content }) => write(labelled(labels, values), content)),
  }
}

function linesOf(lines: () => string[]): string[] {
  try {
    return lines()
  } catch {
    return []
  }
}

function bucketLines(name: string, key: string, bounds: readonly number[], counts: number[], sum: number): string[] {
  let upTo = 0
  const buckets = counts.map((count, at) => {
    upTo += count
    const bound = `le="${bounds[at] ?? '+Inf'}"`
    return line(`${name}_bucket`, key === '' ? bound : `${key},${bound}`, upTo)
  })
  return [...buckets, line(`${name}_sum`, key, sum), line(`${name}_count`, key, upTo)]
}

/** `outcome="delivered"`; '' without labels. */
function labelled(labels: readonly string[], values: readonly string[]): string {
  return labels.map((label, at) => `${label}="${escaped(values[at] ?? '')}"`).join(',')
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}`
}
