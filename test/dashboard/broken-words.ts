import type { Page } from 'playwright-core'

/** Words of the page that are split or cut off, at most eight; [] if there are none. Measured on the laid-out text:
 *
 *  - split: the letters and digits of one word are on two lines. In `pre`, `code` and `.mono`, whose text is for
 *    machines, a word may be split if what stands between two spaces is wider than its block.
 *  - cut: an ancestor hides part of a line, and neither scrolls nor ends it with an ellipsis. */
export function brokenWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = []
    const isLetters = /[\p{L}\p{N}\p{M}]+/gu

    const linesOf = (range: Range) => [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0)
    const isSplit = (range: Range): boolean => {
      const [first, ...others] = linesOf(range)
      return others.some(({ top }) => top > first!.top + first!.height / 2)
    }
    const blockOf = (element: Element): Element => {
      let at: Element | null = element
      while (at?.parentElement && getComputedStyle(at).display.startsWith('inline')) at = at.parentElement
      return at ?? element
    }
    const widthOf = (word: string, element: Element): number => {
      const { font, letterSpacing } = getComputedStyle(element)
      const context = document.createElement('canvas').getContext('2d')!
      Object.assign(context, { font, letterSpacing })
      return context.measureText(word).width
    }
    /** The ancestor that hides the start or end of a line; null if it is visible, can be scrolled to, or has an ellipsis. */
    const cutter = (element: Element, line: DOMRect): Element | null => {
      for (let at: Element | null = element; at !== null; at = at.parentElement) {
        const { overflowX, textOverflow, display } = getComputedStyle(at)
        if (display === 'inline') continue
        if (overflowX === 'auto' || overflowX === 'scroll' || textOverflow === 'ellipsis') return null
        if (overflowX === 'visible') continue
        const box = at.getBoundingClientRect()
        if (box.width <= 1) return null // for screen readers only
        if (line.right > box.right + 1 || line.left < box.left - 1) return at
      }
      return null
    }

    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let at = texts.nextNode(); at !== null && found.length < 8; at = texts.nextNode()) {
      const node = at as Text
      const element = node.parentElement!
      if (node.data.trim() === '' || element.closest('svg, script, style, option, textarea, .hidden')) continue
      if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      const lines = linesOf(range)
      if (lines.every(({ right, left }) => right <= 0 || left >= window.innerWidth)) continue // a closed menu
      const cut = lines.map((line) => cutter(element, line)).find((each) => each !== null)
      if (cut) found.push(`cut by ${cut.outerHTML.slice(0, 60)}: ${node.data.slice(0, 60)}`)
      if (lines.length < 2) continue
      for (const { 0: word, index } of node.data.matchAll(isLetters)) {
        range.setStart(node, index)
        range.setEnd(node, index + word.length)
        if (!isSplit(range)) continue
        const isForMachines = element.closest('pre, code, .mono') !== null
        const token = `${/\S*$/.exec(node.data.slice(0, index))}${/^\S*/.exec(node.data.slice(index))}`
        if (isForMachines && widthOf(token, element) > blockOf(element).clientWidth) continue
        found.push(`split: ${word} in ${element.outerHTML.slice(0, 80)}`)
        break
      }
    }
    return found
  })
}
