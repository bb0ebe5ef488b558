import { computed, effect, signal } from '@preact/signals'

/** State of all pages: session, organization, mode and theme. The browser stores the user's choices, but no secrets. */

export interface OrganizationOption {
  id: string
  name: string
  plan: string
  /** Role of the user; undefined for one that the session does not list, which only operators can select. */
  role?: string
}

/** Response of `GET /session`. */
export interface SessionInfo {
  session: { id: string; created_at: string; ends_at: string }
  user: { id: string; email: string | null; name: string | null; is_operator: boolean }
  /** By role: the operations that it may not call, with the least role that may. */
  refused: Record<string, Record<string, string>>
  has_password: boolean
  organizations: OrganizationOption[]
  has_more_organizations: boolean
  version: string
}

/** Undefined while it loads; null if nobody is signed in. */
export const session = signal<SessionInfo | null | undefined>(undefined)
/** True after the server ended the session of the user: the sign-in page says so. */
export const hasEnded = signal(false)
export type Mode = 'live' | 'test'
export const MODES = [
  ['live', 'Live'],
  ['test', 'Test'],
] as const satisfies readonly (readonly [Mode, string])[]
export type Theme = 'auto' | 'light' | 'dark'
export const mode = stored<Mode>('mode', ['live', 'test'])
export const theme = stored<Theme>('theme', ['auto', 'light', 'dark'])

const chosen = signal<string>(read('organization') ?? '')
/** The selected organization, by default the oldest one; null if there is none. */
export const organization = computed<OrganizationOption | null>(() => {
  const all = session.value?.organizations ?? []
  return all.find(({ id }) => id === chosen.value) ?? all.at(-1) ?? null
})

/** Selects an organization. It may be one that the session does not list. */
export function switchOrganization(option: OrganizationOption): void {
  const { id } = option
  const known = session.value
  if (known && !known.organizations.some((each) => each.id === id)) {
    session.value = { ...known, organizations: [...known.organizations, option] }
  }
  chosen.value = id
  write('organization', id)
}

/** ID of the organization that this browser selected last; '' if none. */
export const lastOrganizationId = () => chosen.peek()

/** Title of the page, for the browser tab. Screen readers announce it first. */
export const title = signal('')

/** Starts applying theme and title to the document. Call it once, at start. */
export function startState(): void {
  effect(() => {
    if (theme.value === 'auto') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme.value
  })
  effect(() => {
    document.title = title.value === '' ? 'Postrider' : `${title.value} · Postrider`
  })
}

/** A choice that the browser stores; the first of `values` by default. */
export function stored<T extends string>(name: string, values: readonly [T, ...T[]]) {
  const before = read(name)
  const choice = signal<T>(values.find((value) => value === before) ?? values[0])
  effect(() => write(name, choice.value))
  return choice
}

function read(name: string): string | null {
  try {
    return window.localStorage.getItem(`postrider.${name}`)
  } catch {
    return null // storage is disabled: choices end with the page
  }
}

function write(name: string, value: string): void {
  try {
    window.localStorage.setItem(`postrider.${name}`, value)
  } catch {
    // storage is disabled
  }
}
