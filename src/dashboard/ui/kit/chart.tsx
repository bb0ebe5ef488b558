import { useEffect, useRef, useState } from 'preact/hooks'
import type { Line } from './plot.ts'
import { theme } from './state.ts'

/** A line chart, and a button that shows the same numbers as a table. `times` are ms UTC, one for each value of a line.
 *  The first chart loads the plotting library. */
export function Chart({
  name,
  times,
  lines,
  label,
}: {
  name: string
  times: readonly number[]
  lines: readonly Line[]
  /** Formats a time for the table. */
  label: (at: number) => string
}) {
  const [isTable, setTable] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (isTable || element === null) return
    let stop = () => {}
    let isGone = false
    void import('./plot.ts').then(({ plot }) => {
      if (!isGone) stop = plot(element, times, lines)
    })
    return () => {
      isGone = true
      stop()
    }
  }, [isTable, JSON.stringify([times, lines]), theme.value])
  return (
    <figure class="chart stack tight">
      <figcaption class="row apart">
        <span class="row">
          {lines.map(({ name, colour, dash, isFilled }) => (
            <span key={name} class="key">
              <svg width="22" height="10" aria-hidden="true">
                <line
                  x1="1"
                  x2="21"
                  y1="5"
                  y2="5"
                  stroke={`var(${colour})`}
                  stroke-width={isFilled ? 8 : 2.5}
                  stroke-opacity={isFilled ? 0.25 : 1}
                  stroke-dasharray={dash?.join(' ')}
                />
              </svg>
              {name}
            </span>
          ))}
        </span>
        <button type="button" class="tiny" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
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
              </tr>
            </thead>
            <tbody>
              {times.map((at, row) => (
                <tr key={at}>
                  <th scope="row">{label(at)}</th>
                  {lines.map(({ name, values }) => (
                    <td key={name} class="num">
                      {values[row]}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : (
        <div class="plot" ref={box} role="img" aria-label={`${name}. Use View as table to read the numbers.`} />
      )}
    </figure>
  )
}
