/** CSS or HTML colour → `#rrggbb`, for comparison; null without a colour, for a transparent one, and for an unknown
 *  one. Never throws. */
export function colourOf(text: string): string | null {
  const written = text.trim()
  if (written.length > 60) return null
  const lower = written.toLowerCase()
  const colour = lower.endsWith(IMPORTANT) ? lower.slice(0, -IMPORTANT.length).trimEnd() : lower
  const hex = HEX.exec(colour)?.[1]
  if (hex !== undefined) return `#${hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex}`
  const parts = RGB.exec(colour)
  if (parts !== null) {
    if (parts[4] !== undefined && Number(parts[4]) !== 1) return null
    return `#${[1, 2, 3].map((index) => Math.min(Number(parts[index]), 255).toString(16).padStart(2, '0')).join('')}`
  }
  return NAMED[colour] ?? null
}

const IMPORTANT = '!important'
const HEX = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/
const RGB = /^rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})(?:\s*[,/]\s*([\d.]+))?\s*\)$/
const NAMED: Record<string, string> = {
  white: '#ffffff',
  black: '#000000',
  red: '#ff0000',
  green: '#008000',
  blue: '#0000ff',
  yellow: '#ffff00',
  gray: '#808080',
  grey: '#808080',
  silver: '#c0c0c0',
  lightgray: '#d3d3d3',
  whitesmoke: '#f5f5f5',
  snow: '#fffafa',
  ivory: '#fffff0',
}
