import { SETTINGS_TABS } from '../pages/settings/tabs.ts'
import { PAGES } from '../pages.ts'
import { type Entry, fits } from './palette-search.ts'
import { recent } from './recent.ts'
import { may } from './rights.ts'
import { amendQuery, go, place } from './router.ts'
import { mode, theme } from './state.ts'

/** The records opened last, without the one that is open. */
export const recentRecords = (): Entry[] =>
  recent.value
    .filter(({ path }) => path !== place.value.path)
    .map(({ path, name }) => ({ key: path, group: 'Recent', icon: 'rotate-cw', text: name, run: () => go(path) }))

/** Pages, tabs of the settings and actions that match and that the user may use. */
export function commands(wanted: string): Entry[] {
  return [...pages(), ...actions(), ...tabs(), ...choices()].filter(({ text, words = '' }) =>
    fits(`${text} ${words}`, wanted),
  )
}

const pages = (): Entry[] =>
  PAGES.filter(({ group, needs }) => group !== undefined && may(needs)).map(({ path, name, icon = '' }) => ({
    key: path,
    group: 'Page',
    icon,
    text: name,
    ...(WORDS[path] !== undefined && { words: WORDS[path] }),
    run: () => go(path),
  }))

/** Other words for pages. */
const WORDS: Record<string, string> = {
  '/domains': 'dns spf dkim dmarc',
  '/users': 'members invitations',
  '/health': 'doctor alerts checks',
}

/** What creates or opens something: its operation, name, path and query. */
const ACTIONS = [
  ['messages_send', 'Send a message', '/messages', { compose: 'yes' }],
  ['domains_create', 'Add domain', '/domains', { add: 'yes' }],
  ['api_keys_create', 'Create API key', '/api-keys', { create: 'yes' }],
  ['templates_create', 'New template', '/templates/new', {}],
  ['webhooks_create', 'Create webhook', '/webhooks', { create: 'yes' }],
  ['inbound_routes_create', 'Create inbound route', '/inbound', { tab: 'routes', create: 'yes' }],
  ['invitations_create', 'Invite a user', '/users', { invite: 'yes' }],
  ['recipients_erase', 'Erase a recipient', '/erasures', { erase: 'yes' }],
] as const

const actions = (): Entry[] =>
  ACTIONS.filter(([operation]) => may(operation)).map(([key, text, path, query]) => ({
    key,
    group: 'Action',
    icon: 'plus',
    text,
    run: () => go(path, query),
  }))

const tabs = (): Entry[] =>
  SETTINGS_TABS.filter(([, , operation]) => may(operation)).map(([tab, name]) => ({
    key: `settings-${tab}`,
    group: 'Settings',
    icon: 'settings',
    text: name,
    run: () => go('/settings', { tab }),
  }))

function choices(): Entry[] {
  const choice = (text: string, icon: string, run: () => void): Entry => ({
    key: text,
    group: 'Action',
    icon,
    text,
    run,
  })
  return [
    choice('Show bounced messages', 'ban', () => go('/messages', { status: 'bounced' })),
    choice('Show deferred messages', 'refresh-cw', () => go('/messages', { status: 'deferred' })),
    choice(mode.peek() === 'live' ? 'Switch to test mode' : 'Switch to live mode', 'flask-conical', () => {
      mode.value = mode.peek() === 'live' ? 'test' : 'live'
      amendQuery({ page: '' })
    }),
    choice('Use the light theme', 'sun', () => {
      theme.value = 'light'
    }),
    choice('Use the dark theme', 'moon', () => {
      theme.value = 'dark'
    }),
    choice('Open the manual', 'book-open', () => openTab('/manual/')),
    choice('Open the API reference (docs)', 'book-open', () => openTab('/docs')),
  ]
}

const openTab = (path: string) => window.open(path, '_blank', 'noopener')
