import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { IS_APPLE } from './kit/browser-name.ts'
import { ConfirmDialog } from './kit/dialog.tsx'
import { Icon } from './kit/icon.tsx'
import { KeyHelp, openPalette, PaletteSlot } from './kit/keys.tsx'
import { Segments } from './kit/pieces.tsx'
import { amendQuery, place } from './kit/router.ts'
import { MODES, type Mode, mode } from './kit/state.ts'
import { Toasts } from './kit/toast.tsx'
import type { PageEntry } from './pages.ts'
import { ProfileNotice } from './profile.tsx'
import { Sidebar } from './sidebar.tsx'

/** Navigation, search, mode, dialogs and toasts around a page. */
export function Layout({ page, children }: { page: PageEntry | null; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const menu = useRef<HTMLButtonElement>(null)
  const { path } = place.value
  const isFirst = useRef(true)
  useLayoutEffect(() => {
    setOpen(false)
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path])
  useLayoutEffect(() => {
    if (!isOpen) return
    const close = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      event.preventDefault()
      setOpen(false)
      menu.current?.focus()
    }
    document.addEventListener('keydown', close, { capture: true })
    return () => document.removeEventListener('keydown', close, { capture: true })
  }, [isOpen])
  const hasMode = page?.hasMode === true

  return (
    <div class={hasMode && mode.value === 'test' ? 'test-mode' : undefined}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="frame">
        <Sidebar page={page} isOpen={isOpen} />
        {/* Keyboard users close the menu with Escape. */}
        {isOpen && <div class="scrim" aria-hidden="true" onClick={() => setOpen(false)} />}
        <div>
          <header class="top">
            <button
              type="button"
              class="menu plain icon-only"
              ref={menu}
              aria-label="Menu"
              aria-expanded={isOpen}
              aria-controls="navigation"
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name="menu" />
            </button>
            <button type="button" class="jump" onClick={openPalette}>
              <Icon name="search" />
              <span class="grow">Search or jump to…</span>
              <kbd>{IS_APPLE ? '⌘' : 'Ctrl'} K</kbd>
            </button>
            <span class="grow" />
            {hasMode ? (
              <Segments name="Mode" options={MODES} chosen={mode.value} onChoose={chooseMode} />
            ) : (
              <span title={WITHOUT_MODE}>
                <Segments name="Mode" options={MODES} chosen={mode.value} isDisabled onChoose={chooseMode} />
              </span>
            )}
          </header>
          <main id="main" ref={main} tabIndex={-1}>
            {WITH_PROFILE.includes(path) && <ProfileNotice />}
            {children}
          </main>
        </div>
      </div>
      <PaletteSlot />
      <Overlays />
    </div>
  )
}

const WITHOUT_MODE = 'This page is the same for live and test mail.'

/** Another mode begins with the first page of its list. */
function chooseMode(id: Mode): void {
  mode.value = id
  amendQuery({ page: '' })
}

/** Pages that ask the first operator for a name and an address. */
const WITH_PROFILE = ['/', '/account']

/** Dialogs, list of shortcuts and toasts, for the layout and the sign-in page. */
export function Overlays() {
  return (
    <>
      <ConfirmDialog />
      <KeyHelp />
      <Toasts />
    </>
  )
}
