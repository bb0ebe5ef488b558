import { type ComponentChildren, Fragment } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import icon from './icon.svg'
import { signOut } from './kit/api.ts'
import { ConfirmDialog } from './kit/dialog.tsx'
import { KeyHelp, openKeyHelp } from './kit/keys.tsx'
import { Choice, Segments } from './kit/pieces.tsx'
import { href, mayLeave, place } from './kit/router.ts'
import { mode, organization, session, switchOrganization, theme } from './kit/state.ts'
import { attempt, Toasts } from './kit/toast.tsx'
import { PAGES, type PageEntry } from './pages.ts'

/** Navigation, organization, mode, dialogs and toasts around a page. */
export function Layout({ page, children }: { page: PageEntry | null; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const { path } = place.value
  const isFirst = useRef(true)
  useLayoutEffect(() => {
    setOpen(false)
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path])

  return (
    <div class={mode.value === 'test' ? 'test-mode' : undefined}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="frame">
        <nav class={`side ${isOpen ? 'open' : ''}`} id="navigation" aria-label="Main">
          <a class="brand" href={href('/')}>
            <img src={icon} alt="" />
            Postrider
          </a>
          <div>
            {GROUPS.map((group) => (
              <Fragment key={group}>
                {group !== '' && PAGES.some((each) => each.group === group) && <h2>{group}</h2>}
                <ul>
                  {PAGES.filter((each) => each.group === group).map(({ path, name, key }) => (
                    <li key={path}>
                      <a
                        href={href(path)}
                        aria-current={isWithin(path, page) ? 'page' : undefined}
                        data-keys={key && `g ${key}`}
                      >
                        {name}
                      </a>
                    </li>
                  ))}
                </ul>
              </Fragment>
            ))}
          </div>
          <div class="foot">
            <Choice name="Theme" value={theme.value} options={THEMES} onChange={(id) => (theme.value = id)} />
            <a href="/manual/" target="_blank" rel="noreferrer">
              Manual
            </a>
            <button type="button" class="plain" onClick={async () => (await mayLeave()) && attempt(signOut)}>
              Sign out
            </button>
          </div>
        </nav>
        <div>
          <header class="top">
            <button
              type="button"
              class="menu icon"
              aria-expanded={isOpen}
              aria-controls="navigation"
              onClick={() => setOpen(!isOpen)}
            >
              Menu
            </button>
            <Organizations />
            <Segments name="Mode" options={MODES} chosen={mode.value} onChoose={(id) => (mode.value = id)} />
            <span class="grow" />
            <button type="button" class="plain icon wide" onClick={openKeyHelp} aria-label="Keyboard shortcuts">
              <kbd>?</kbd>
            </button>
          </header>
          <main id="main" ref={main} tabIndex={-1}>
            {children}
          </main>
        </div>
      </div>
      <Overlays />
    </div>
  )
}

const GROUPS = ['', 'Sending', 'Receiving', 'Server'] as const
const MODES = [
  ['live', 'Live'],
  ['test', 'Test'],
] as const
const THEMES = [
  ['auto', 'Auto'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

/** Select for the organization. Shows only the name if there is one organization, and a notice if there is none. */
function Organizations() {
  const [round, setRound] = useState(0)
  const all = session.value?.organizations ?? []
  const [first, ...others] = all
  if (first === undefined) return <span class="muted">No organizations yet</span>
  if (others.length === 0) return <strong class="break">{first.name}</strong>
  const options = all.map(({ id, name }) => [id, name] as const)
  const choose = async (id: string) => {
    const chosen = all.find((each) => each.id === id)
    if (chosen !== undefined && (await mayLeave())) switchOrganization(chosen)
    else setRound(round + 1) // renders the previous choice again
  }
  const { id = '' } = organization.value ?? {}
  return (
    <>
      <Choice key={round} name="Organization" value={id} options={options} onChange={choose} />
      {session.value?.has_more_organizations && <a href={href('/organizations')}>All organizations</a>}
    </>
  )
}

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

function isWithin(path: string, page: PageEntry | null): boolean {
  return page !== null && (page.path === path || page.under === path)
}
