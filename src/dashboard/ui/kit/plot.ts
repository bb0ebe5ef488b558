import uPlot from 'uplot'

/** A line of a chart. */
export interface Line {
  name: string
  /** Name of a CSS variable of tokens.css: `--good`. */
  colour: string
  /** Dash pattern in pixels, so that lines differ in more than their colour. */
  dash?: number[]
  isFilled?: boolean
  values: number[]
}

/** Draws lines into an element at its full width. `times` are ms UTC, one for each value. Returns a function that
 *  removes the chart. */
export function plot(element: HTMLElement, times: readonly number[], lines: readonly Line[]): () => void {
  const colour = (token: string) => getComputedStyle(document.documentElement).getPropertyValue(token).trim()
  const axis = {
    stroke: colour('--muted'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  const height = 220
  const chart = new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, points: { size: 7 } },
      scales: { y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] } },
      axes: [
        {
          ...axis,
          size: 28,
          grid: { show: false },
          values: (_, splits, __, ___, step) => splits.map((at) => timeOf(at, step)),
        },
        { ...axis, size: 44, incrs: WHOLE, values: (_, splits) => splits.map(short) },
      ],
      series: [
        {},
        ...lines.map(({ name, colour: token, dash, isFilled }) => ({
          label: name,
          stroke: isFilled ? 'transparent' : colour(token),
          width: 2,
          points: { show: false },
          ...(dash === undefined ? {} : { dash }),
          ...(isFilled ? { fill: `${colour(token)}30` } : {}),
        })),
      ],
    },
    [times.map((at) => at / 1_000), ...lines.map(({ values }) => values)],
    element,
  )
  const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
  watch.observe(element)
  return () => {
    watch.disconnect()
    chart.destroy()
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

/** `14:00`, or the day at midnight and for daily steps. uPlot counts in seconds. */
function timeOf(at: number, stepSeconds: number): string {
  const time = new Date(at * 1_000)
  const isMidnight = time.getHours() === 0 && time.getMinutes() === 0
  return (isMidnight || stepSeconds >= 86_400 ? day : clock).format(time)
}

/** Steps of the vertical axis: the chart counts messages. */
const WHOLE = [1, 2, 5]
  .flatMap((step) => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((zeros) => step * 10 ** zeros))
  .sort((a, b) => a - b)

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`
  return value >= 1e4 ? `${value / 1e3} k` : String(value)
}
