import { computed, effect, signal } from '@preact/signals'

/** What every page may ask: who is signed in, for whom they act, in which mode, and how it all looks. Choices are kept in
 *  this browser; nothing secret is. */

export interface OrganizationOption {
  id: string
  name: string
  plan: string
}

/** What `GET /session` answers. */
export interface SessionInfo {
  session: { id: string; created_at: string; ends_at: string }
  has_password: boolean
  organizations: OrganizationOption[]
  has_more_organizations: boolean
  version: string
}

/** Undefined while it is not known yet; null = nobody is signed in. */
export const session = signal<SessionInfo | null | undefined>(undefined)
export type Mode = 'live' | 'test'
export type Theme = 'auto' | 'light' | 'dark'
export const mode = kept<Mode>('mode', ['live', 'test'])
export const theme = kept<Theme>('theme', ['auto', 'light', 'dark'])

const chosen = signal<string>(read('organization') ?? '')
/** The organization we act for, the oldest until one is chosen; null when there is none at all. */
export const organization = computed<OrganizationOption | null>(() => {
  const all = session.value?.organizations ?? []
  return all.find(({ id }) => id === chosen.value) ?? all.at(-1) ?? null
})

/** From now on for this one, also where there are more than the session names. */
export function actFor(option: OrganizationOption): void {
  const { id } = option
  const known = session.value
  if (known && !known.organizations.some((each) => each.id === id)) {
    session.value = { ...known, organizations: [...known.organizations, option] }
  }
  chosen.value = id
  write('organization', id)
}

/** Whom was acted for last in this browser; '' = nobody yet. */
export const lastOrganizationId = () => chosen.peek()

/** Titles of browser tabs and what screen readers hear first. */
export const title = signal('')

export function startState(): void {
  effect(() => {
    if (theme.value === 'auto') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme.value
  })
  effect(() => {
    document.title = title.value === '' ? 'Postrider' : `${title.value} · Postrider`
  })
}

/** A choice that outlives the page; the first of `values` where none was made. */
function kept<T extends string>(name: string, values: readonly [T, ...T[]]) {
  const before = read(name)
  const choice = signal<T>(values.find((value) => value === before) ?? values[0])
  effect(() => write(name, choice.value))
  return choice
}

function read(name: string): string | null {
  try {
    return window.localStorage.getItem(`postrider.${name}`)
  } catch {
    return null // storage is forbidden: choices last as long as the page
  }
}

function write(name: string, value: string): void {
  try {
    window.localStorage.setItem(`postrider.${name}`, value)
  } catch {
    // the same
  }
}
