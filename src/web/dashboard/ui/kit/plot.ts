import uPlot from 'uplot'
import { LOCALE } from './format.ts'

/** A series of a chart: a part of stacked bars, or a line in a chart of its own. */
export interface Line {
  name: string
  /** Name of a CSS variable of tokens.css: `--good`. */
  colour: string
  values: number[]
}

export interface PlotOptions {
  /** Stacked bars, the first series at the bottom; otherwise lines. */
  isStacked: boolean
  heightPx: number
  /** Value of the dashed limit line. */
  limit?: number | undefined
  /** Value → text for the axis and the tooltip. */
  format?: ((value: number) => string) | undefined
  /** Totals of the period before, as a thin line over stacked bars. */
  before?: readonly number[] | undefined
}

/** Draws series into an element at its full width, with a tooltip of the values at the pointer. `times` are ms UTC, one for
 *  each value. Returns a function that removes the chart. */
export function plot(
  element: HTMLElement,
  times: readonly number[],
  lines: readonly Line[],
  { isStacked, heightPx: height, limit, format = short, before }: PlotOptions,
): () => void {
  const colour = (token: string) => getComputedStyle(document.documentElement).getPropertyValue(token).trim()
  const axis = {
    stroke: colour('--muted'),
    font: '12px Inter, system-ui, sans-serif',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
  // uPlot draws later series over earlier ones: the total of all parts first, then the totals below it.
  const drawn = isStacked ? lines.map((_, at) => totalsUpTo(lines, at)).toReversed() : lines.map(({ values }) => values)
  const named = isStacked ? lines.toReversed() : lines
  const least = isStacked ? 4 : (limit ?? 0.01)
  // Half of the time between two bars, in seconds: room for the first and the last bar.
  const halfStep = ((times[1] ?? 0) - (times[0] ?? 0)) / 2_000
  const isDaily = halfStep >= DAY_S / 2
  const bars = uPlot.paths.bars?.({ size: [0.7, 24], radius: 0 })
  const { tip, follow } = tooltip(times, lines, { format, before, colour })
  const chart = new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, points: { show: false } },
      scales: {
        x: { range: (_, from, to) => (isStacked ? [from - halfStep, to + halfStep] : [from, to]) },
        y: { range: (_, __, most) => [0, Math.max(least, most ?? 0) * 1.1] },
      },
      axes: [
        {
          ...axis,
          size: 28,
          grid: { show: false },
          ...(isDaily && { incrs: WHOLE_DAYS }),
          values: (_, splits, __, ___, step) => splits.map((at) => timeOf(at, step)),
        },
        { ...axis, size: 48, ...(isStacked ? { incrs: WHOLE } : {}), values: (_, splits) => splits.map(format) },
      ],
      series: [
        {},
        ...named.map(({ name, colour: token }) => ({
          label: name,
          stroke: colour(token),
          width: isStacked ? 0 : 2,
          points: { show: false },
          ...(isStacked && bars ? { fill: colour(token), paths: bars } : {}),
        })),
        ...(before === undefined
          ? []
          : [{ label: BEFORE, stroke: colour('--strong-line'), width: 1, points: { show: false } }]),
      ],
      hooks: {
        setCursor: [follow],
        draw: limit === undefined ? [] : [(chart) => drawLimit(chart, limit, colour('--bad'))],
      },
    },
    [times.map((at) => at / 1_000), ...drawn, ...(before === undefined ? [] : [[...before]])],
    element,
  )
  chart.over.append(tip)
  const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
  watch.observe(element)
  return () => {
    watch.disconnect()
    chart.destroy()
  }
}

/** For each time, the sum of the first series up to this one. */
function totalsUpTo(lines: readonly Line[], last: number): number[] {
  const upTo = lines.slice(0, last + 1)
  return (upTo[0]?.values ?? []).map((_, at) => upTo.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
}

function drawLimit({ ctx, bbox, valToPos }: uPlot, limit: number, colour: string): void {
  const y = valToPos(limit, 'y', true)
  ctx.save()
  ctx.strokeStyle = colour
  ctx.lineWidth = window.devicePixelRatio
  ctx.setLineDash([4, 4])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.restore()
}

/** Name of the line of the period before. */
const BEFORE = 'Period before'

/** The values at the pointer with their colours, the total, and the share of each, in an element over the chart. */
function tooltip(times: readonly number[], lines: readonly Line[], { format, before, colour }: TipOptions) {
  const tip = document.createElement('div')
  tip.className = 'tip'
  tip.hidden = true
  const row = (text: string, token?: string) => {
    const line = document.createElement('div')
    line.textContent = text
    if (token !== undefined) line.style.borderLeft = `8px solid ${colour(token)}`
    return line
  }
  const follow = ({ cursor: { idx, left = 0 }, over }: uPlot) => {
    const at = idx === null || idx === undefined ? undefined : times[idx]
    tip.hidden = at === undefined || left < 0
    if (at === undefined || tip.hidden) return
    const values = lines.map((line) => line.values[idx ?? 0] ?? 0)
    const total = values.reduce((sum, value) => sum + value, 0)
    const shareOf = (value: number) =>
      lines.length > 1 && total > 0 ? ` (${((value / total) * 100).toFixed(1)}%)` : ''
    tip.replaceChildren(
      row(`${day.format(at)} ${clock.format(at)}`),
      ...lines.map((line, n) => row(`${line.name} ${format(values[n] ?? 0)}${shareOf(values[n] ?? 0)}`, line.colour)),
      ...(lines.length > 1 ? [row(`Total ${format(total)}`)] : []),
      ...(before === undefined ? [] : [row(`${BEFORE} ${format(before[idx ?? 0] ?? 0)}`, '--strong-line')]),
    )
    const isRight = left > over.clientWidth / 2
    tip.style.left = isRight ? 'auto' : `${left + 12}px`
    tip.style.right = isRight ? `${over.clientWidth - left + 12}px` : 'auto'
  }
  return { tip, follow }
}

interface TipOptions {
  format: (value: number) => string
  before: readonly number[] | undefined
  colour: (token: string) => string
}

const clock = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short' })

/** `14:00`, or the day at midnight and for daily steps. uPlot counts in seconds. */
function timeOf(at: number, stepSeconds: number): string {
  const time = new Date(at * 1_000)
  const isMidnight = time.getHours() === 0 && time.getMinutes() === 0
  return (isMidnight || stepSeconds >= 86_400 ? day : clock).format(time)
}

const DAY_S = 86_400
/** Steps of the time axis for one value a day. */
const WHOLE_DAYS = [1, 2, 5, 10, 30, 60, 180, 365].map((days) => days * DAY_S)

/** Steps of the vertical axis: the chart counts messages. */
const WHOLE = [1, 2, 5]
  .flatMap((step) => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((zeros) => step * 10 ** zeros))
  .sort((a, b) => a - b)

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`
  return value >= 1e4 ? `${value / 1e3} k` : String(value)
}
