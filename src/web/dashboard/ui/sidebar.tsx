import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import icon from './icon.svg'
import { signOut } from './kit/api.ts'
import { Icon } from './kit/icon.tsx'
import { openKeyHelp } from './kit/keys.tsx'
import { Menu, MenuItem } from './kit/menu.tsx'
import { Choice, Segments } from './kit/pieces.tsx'
import { may } from './kit/rights.ts'
import { amendQuery, href, mayLeave } from './kit/router.ts'
import { organization, session, switchOrganization, theme } from './kit/state.ts'
import { attempt } from './kit/toast.tsx'
import { PAGES, type PageEntry } from './pages.ts'

/** Organization switcher, pages and account menu. */
export function Sidebar({ page, isOpen }: { page: PageEntry | null; isOpen: boolean }) {
  return (
    <nav class={`side ${isOpen ? 'open' : ''}`} id="navigation" aria-label="Main">
      <div class="brand">
        <a href={href('/')} aria-label="Postrider">
          <img src={icon} alt="" />
        </a>
        <Organizations />
      </div>
      <div class="grow">
        {GROUPS.map((group) => (
          <Fragment key={group}>
            {group !== '' && pagesIn(group).length > 0 && <h2>{group}</h2>}
            <ul>
              {pagesIn(group).map(({ path, name, key, icon = '' }) => (
                <li key={path}>
                  <a
                    href={href(path)}
                    aria-current={isWithin(path, page) ? 'page' : undefined}
                    data-keys={key && `g ${key}`}
                  >
                    <Icon name={icon} />
                    <span class="grow">{name}</span>
                  </a>
                </li>
              ))}
            </ul>
          </Fragment>
        ))}
      </div>
      <Account />
    </nav>
  )
}

const pagesIn = (group: string) => PAGES.filter((page) => page.group === group && may(page.needs))
const GROUPS = ['', 'Sending', 'Receiving', 'Server'] as const
const THEMES = [
  ['auto', 'Auto'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

/** Signed-in user, theme, documentation and sign-out. */
function Account() {
  const { user } = session.value ?? {}
  const name = user?.name || user?.email || 'Operator'
  const label = (
    <>
      <Icon name="user" />
      <span class="grow ellipsis">{name}</span>
      <Icon name="chevrons-up-down" />
    </>
  )
  return (
    <Menu name={`Account of ${name}`} className="plain account" label={label}>
      <div class="menu-theme">
        <Segments name="Theme" options={THEMES} chosen={theme.value} onChoose={(id) => (theme.value = id)} />
      </div>
      <MenuItem icon="key-round" href={href('/account')}>
        Account
      </MenuItem>
      <MenuItem icon="book-open" href="/manual/">
        Manual
      </MenuItem>
      <MenuItem icon="file-text" href="/docs">
        API reference
      </MenuItem>
      <MenuItem icon="circle-question-mark" onPress={openKeyHelp}>
        Keyboard shortcuts
      </MenuItem>
      <MenuItem icon="log-out" onPress={async () => (await mayLeave()) && attempt(signOut)}>
        Sign out
      </MenuItem>
    </Menu>
  )
}

/** Select for the organization. Shows only the name if there is one organization, and a notice if there is none. */
function Organizations() {
  const [round, setRound] = useState(0)
  const all = session.value?.organizations ?? []
  const [first, ...others] = all
  if (first === undefined) return <span class="muted">No organizations yet</span>
  if (others.length === 0)
    return (
      <strong class="ellipsis" title={first.name}>
        {first.name}
      </strong>
    )
  const options = all.map(({ id, name }) => [id, name] as const)
  const choose = async (id: string) => {
    const chosen = all.find((each) => each.id === id)
    if (chosen !== undefined && (await mayLeave())) {
      switchOrganization(chosen)
      amendQuery({ page: '' })
    } else setRound(round + 1) // renders the previous choice again
  }
  const { id = '' } = organization.value ?? {}
  return (
    <span class="stack switcher">
      <Choice key={round} name="Organization" value={id} options={options} onChange={choose} />
      {session.value?.has_more_organizations && <a href={href('/organizations')}>All organizations</a>}
    </span>
  )
}

function isWithin(path: string, page: PageEntry | null): boolean {
  return page !== null && (page.path === path || page.under === path)
}
