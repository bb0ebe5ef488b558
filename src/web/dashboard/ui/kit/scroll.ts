/** The scroll position of each entry of the browser's history. The browser itself restores it before the data of a page
 *  has arrived, when the page is too short. */

/** What the browser keeps with an entry of its history; it survives a reload. */
export interface Entry {
  /** Of the window, in px. */
  scroll: number
  /** By query parameter of a list (usePages): the cursors of its newer pages, '' for the first one. */
  newer?: Record<string, string[]> | undefined
}

/** The present entry. */
export const entry = (): Entry => window.history.state ?? { scroll: 0 }

/** Aborts to end a restoreScroll; null while none is under way. */
let restoring: AbortController | null = null

/** Notes the position in the present entry, unless the page is still too short for the one to restore. */
export function keepScroll(): void {
  if (restoring === null) window.history.replaceState({ ...entry(), scroll: window.scrollY }, '')
}

/** Scrolls to a position as soon as the page is long enough for it, which is after its data; tries until the user scrolls
 *  or types, and for at most 10 s. */
export function restoreScroll(y: number): void {
  restoring?.abort()
  window.scrollTo(0, y)
  if (y === 0) return
  const given = new AbortController()
  const { signal } = given
  const end = () => given.abort()
  const watch = new ResizeObserver(() => {
    window.scrollTo(0, y)
    const isBusy = document.querySelector('main :is([aria-busy="true"], [role="progressbar"])') !== null
    if (!isBusy && Math.abs(window.scrollY - y) <= 1) end()
  })
  restoring = given
  signal.addEventListener('abort', () => {
    watch.disconnect()
    if (restoring === given) restoring = null
  })
  // In the capture phase, which is over for the key that opened the page.
  for (const event of ['wheel', 'touchstart', 'pointerdown', 'keydown'])
    window.addEventListener(event, end, { signal, passive: true, capture: true })
  AbortSignal.timeout(10_000).addEventListener('abort', end, { signal })
  watch.observe(document.body)
}

/** Starts noting positions, and restores the one from before a reload. Call it once, at start. */
export function startScroll(): void {
  window.history.scrollRestoration = 'manual'
  restoreScroll(entry().scroll)
  let timer = 0
  const later = () => {
    window.clearTimeout(timer)
    timer = window.setTimeout(keepScroll, 100)
  }
  window.addEventListener('scroll', later, { passive: true })
  window.addEventListener('popstate', () => window.clearTimeout(timer)) // of the entry that was left
  window.addEventListener('pagehide', keepScroll)
}
