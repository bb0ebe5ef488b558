import { signal } from '@preact/signals'
import { Dialog } from './dialog.tsx'
import { go } from './router.ts'

/** The keyboard. Nothing happens while somebody writes or a dialog is open; no key needs another held down, so nothing of
 *  the browser or a screen reader is taken away. */

export interface KeyedPage {
  /** `m`: `g m` goes there. */
  key: string
  name: string
  path: string
}

const isHelpOpen = signal(false)
export const openKeyHelp = () => {
  isHelpOpen.value = true
}

let pages: readonly KeyedPage[] = []
let goesAt = 0
/** Where Escape leads, as the page that is shown says. */
export const up = signal<string | null>(null)

/** Once, when the page starts. */
export function startKeys(all: readonly KeyedPage[]): void {
  pages = all
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.target as HTMLElement
    if (document.querySelector('dialog[open]') !== null) return
    if (target.matches('input, textarea, select, [contenteditable]')) {
      if (event.key === 'Escape') target.blur()
      return
    }
    if (Date.now() - goesAt < 1_500) {
      goesAt = 0
      const page = pages.find(({ key }) => key === event.key)
      if (page !== undefined) {
        event.preventDefault()
        go(page.path)
        return
      }
    }
    act(event)
  })
}

function act(event: KeyboardEvent): void {
  switch (event.key) {
    case 'g':
      goesAt = Date.now()
      return
    case '?':
      event.preventDefault()
      openKeyHelp()
      return
    case '/': {
      const field = document.querySelector<HTMLInputElement>('main [data-search]')
      if (field === null) return
      event.preventDefault()
      field.focus()
      field.select()
      return
    }
    case 'j':
    case 'k':
      event.preventDefault()
      walk(event.key === 'j' ? 1 : -1)
      return
    case 'Escape':
    case 'u':
      if (up.value === null) return
      event.preventDefault() // or it would close the question that this may ask
      go(up.value)
      return
  }
}

/** To the next or previous row of the table that is shown. */
function walk(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')]
  if (rows.length === 0) return
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[Math.min(rows.length - 1, Math.max(0, at === -1 ? 0 : at + step))]!
  const within = next.matches('a, button') ? next : next.querySelector<HTMLElement>('a, button')
  ;(within ?? next).focus()
  next.scrollIntoView({ block: 'nearest' })
}

/** The list of keys; `?` opens it. Once, in the layout. */
export function KeyHelp() {
  if (!isHelpOpen.value) return null
  const close = () => {
    isHelpOpen.value = false
  }
  const rows: [string, string][] = [
    ['/', 'Search'],
    ['j k', 'Next and previous row'],
    ['Enter', 'Open the row'],
    ['Esc', 'Back to the list'],
    ...pages.map(({ key, name }): [string, string] => [`g ${key}`, name]),
    ['?', 'This list'],
  ]
  return (
    <Dialog name="Keys" onClose={close}>
      <dl class="facts">
        {rows.map(([keys, what]) => (
          <div key={keys} style={{ display: 'contents' }}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
