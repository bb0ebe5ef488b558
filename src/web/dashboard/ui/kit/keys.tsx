import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { may } from './rights.ts'
import { go, goBackTo, goToNeighbour } from './router.ts'

/** Keyboard shortcuts. They are off while a text field has the focus or a dialog is open. Only the one of the palette uses a
 *  modifier key (⌘K or Ctrl K), so no other overrides a shortcut of the browser or a screen reader. */

/** A page with a shortcut. */
export interface KeyedPage {
  /** `m`: pressing `g`, then `m` opens the page. */
  key: string
  name: string
  path: string
  /** The operation that the page needs. */
  needs: string
}

const isHelpOpen = signal(false)
/** Opens the list of shortcuts. */
export const openKeyHelp = () => {
  isHelpOpen.value = true
}

const isPaletteOpen = signal(false)
/** Opens search and commands. */
export const openPalette = () => {
  isPaletteOpen.value = true
}

let pages: readonly KeyedPage[] = []
let goPressedAt = 0
/** Path of the parent page, which Escape opens; null without a parent. */
export const up = signal<string | null>(null)

/** Starts the shortcuts. Call it once, at start. */
export function startKeys(all: readonly KeyedPage[]): void {
  pages = all
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented) return
    if ((event.metaKey || event.ctrlKey) && event.key === 'k' && document.querySelector('dialog[open]') === null) {
      event.preventDefault()
      openPalette()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isPaletteOpen.peek()) return
    const { target } = event
    if (document.querySelector('dialog[open], [popover]:popover-open') !== null) return
    if (target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')) {
      if (event.key === 'Escape') target.blur()
      return
    }
    if (Date.now() - goPressedAt < 1_500) {
      goPressedAt = 0
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
      goPressedAt = Date.now()
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
      moveFocus(event.key === 'j' ? 1 : -1)
      return
    case 'x':
      rowWithFocus()?.querySelector<HTMLElement>('[data-select]')?.click()
      return
    case 'c':
      if (may('messages_send')) {
        event.preventDefault() // otherwise the letter is in the first field
        go('/messages', { compose: 'yes' })
      }
      return
    case 'r':
      document.querySelector<HTMLElement>('main [data-key="r"]')?.click()
      return
    case '[':
    case ']':
      goToNeighbour(event.key === ']' ? 1 : -1)
      return
    case 'Escape':
    case 'u':
      if (up.value === null) return
      event.preventDefault() // otherwise the key closes the dialog that asks about unsaved changes
      goBackTo(up.value)
      return
  }
}

const rowWithFocus = () => document.activeElement?.closest('main [data-row]')

/** Moves the focus to the next or previous row of a list. */
function moveFocus(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[Math.min(rows.length - 1, Math.max(0, at === -1 ? 0 : at + step))]
  if (next === undefined) return
  const within = next.matches('a, button') ? next : next.querySelector<HTMLElement>('a, button')
  ;(within ?? next).focus()
  next.scrollIntoView({ block: 'nearest' })
}

/** The list of shortcuts, open after `?`. The layout contains it once. */
export function KeyHelp() {
  if (!isHelpOpen.value) return null
  const close = () => {
    isHelpOpen.value = false
  }
  const rows: [string, string][] = [
    ['⌘K Ctrl K', 'Search and commands'],
    ['/', 'Search'],
    ['j k', 'Next or previous row'],
    ['Enter', 'Open row'],
    ['x', 'Select row'],
    ['Esc', 'Back to the list'],
    ['[ ]', 'Previous or next record'],
    ['c', 'New message'],
    ['r', 'Resend message'],
    ['⌘S Ctrl S', 'Save a template'],
    ['?', 'Keyboard shortcuts'],
    ...pages.filter(({ needs }) => may(needs)).map(({ key, name }): [string, string] => [`g ${key}`, name]),
  ]
  return (
    <Dialog name="Keyboard shortcuts" onClose={close}>
      <dl class="facts shortcuts">
        {rows.map(([keys, what]) => (
          <div key={keys}>
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

/** Search and commands, open after ⌘K; its code is loaded at the first use. The layout contains it once. */
export function PaletteSlot() {
  const [Palette, setPalette] = useState<ComponentType<{ onClose: () => void }> | null>(null)
  const isOpen = isPaletteOpen.value
  const close = () => {
    isPaletteOpen.value = false
  }
  useEffect(() => {
    if (isOpen && Palette === null) import('./palette.tsx').then((module) => setPalette(() => module.Palette), close)
  }, [isOpen])
  return isOpen && Palette !== null ? <Palette onClose={close} /> : null
}
