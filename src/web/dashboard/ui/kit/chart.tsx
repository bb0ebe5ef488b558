import { useEffect, useRef, useState } from 'preact/hooks'
import type { Line, PlotOptions } from './plot.ts'
import { theme } from './state.ts'

/** Stacked bars, or lines with a limit, which is only named where it is far above them, and a button that shows the same
 *  numbers as a table. `times` are ms UTC, one for each value of a line. The first chart loads the plotting library. */
export function Chart({
  name,
  times,
  lines,
  label,
  isStacked = true,
  heightPx = 220,
  limit,
  format,
  before,
}: {
  name: string
  times: readonly number[]
  lines: readonly Line[]
  /** Formats a time for the table. */
  label: (at: number) => string
} & Partial<PlotOptions>) {
  const [isTable, setTable] = useState(false)
  const isLimitFar = limit !== undefined && isFarAbove(limit, lines)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (isTable || element === null) return
    let stop = () => {}
    let isGone = false
    void import('./plot.ts').then(({ plot }) => {
      if (!isGone)
        stop = plot(element, times, lines, {
          isStacked,
          heightPx,
          limit: isLimitFar ? undefined : limit,
          format,
          before,
        })
    })
    return () => {
      isGone = true
      stop()
    }
  }, [isTable, JSON.stringify([times, lines, limit, before]), theme.value])
  return (
    <figure class="chart stack tight">
      <figcaption class="row apart">
        <span class="row">
          {lines.map(({ name, colour }) => (
            <span key={name} class="key">
              <svg width="10" height="10" aria-hidden="true">
                <rect width="10" height="10" rx="2" fill={`var(${colour})`} />
              </svg>
              {name}
            </span>
          ))}
          {before && (
            <span class="key">
              <svg width="16" height="10" aria-hidden="true">
                <line x1="0" x2="16" y1="5" y2="5" stroke="var(--strong-line)" />
              </svg>
              Period before
            </span>
          )}
          {isLimitFar && <span class="key">Limit {format?.(limit) ?? limit}, above the chart</span>}
          {limit !== undefined && !isLimitFar && (
            <span class="key">
              <svg width="16" height="10" aria-hidden="true">
                <line x1="0" x2="16" y1="5" y2="5" stroke="var(--bad)" stroke-dasharray="4 3" />
              </svg>
              Limit {format?.(limit) ?? limit}
            </span>
          )}
        </span>
        <button type="button" class="plain tiny" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          View as table
        </button>
      </figcaption>
      {isTable ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        <section class="figures" tabIndex={0} aria-label={name}>
          <table>
            <caption class="hidden">{name}</caption>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {lines.map(({ name }) => (
                  <th key={name} scope="col" class="num">
                    {name}
                  </th>
                ))}
                {before && (
                  <th scope="col" class="num">
                    Period before
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {times.map((at, row) => (
                <tr key={at}>
                  <th scope="row">{label(at)}</th>
                  {lines.map(({ name, values }) => (
                    <td key={name} class="num">
                      {format === undefined ? values[row] : format(values[row] ?? 0)}
                    </td>
                  ))}
                  {before && <td class="num">{before[row]}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : (
        <div
          class="plot"
          style={{ height: `${heightPx}px` }}
          ref={box}
          role="img"
          aria-label={`${name}. Use View as table to read the numbers.`}
        />
      )}
    </figure>
  )
}

/** Whether an axis up to the limit would press the values flat against the bottom. */
function isFarAbove(limit: number, lines: readonly Line[]): boolean {
  const most = Math.max(0, ...lines.flatMap(({ values }) => values))
  return most > 0 && limit > FAR * most
}

const FAR = 3
