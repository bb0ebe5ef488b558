import { useEffect, useRef, useState } from 'preact/hooks'
import { PAGES } from '../pages.ts'
import { get, type Json, type Paged } from './api.ts'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { may } from './rights.ts'
import { go } from './router.ts'
import { mode, organization, theme } from './state.ts'

/** A row of the palette. */
interface Entry {
  key: string
  group: string
  icon: string
  text: string
  detail?: string
  run: () => void
}

const WAIT_MS = 150

/** Search and commands: pages, actions, records by id, and messages, domains, templates and suppressions by words or
 *  address. The arrow keys choose, Enter runs, Escape closes. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [found, setFound] = useState<Entry[]>([])
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const wanted = text.trim()
  useEffect(() => {
    setFound([])
    if (wanted.length < 2 || organization.peek() === null) return
    const given = new AbortController()
    const timer = window.setTimeout(() => {
      search(wanted, given.signal).then((entries) => given.signal.aborted || setFound(entries))
    }, WAIT_MS)
    return () => {
      window.clearTimeout(timer)
      given.abort()
    }
  }, [wanted])
  useEffect(() => setAt(0), [wanted])
  const entries = [...byId(wanted), ...commands().filter(({ text }) => fits(text, wanted)), ...found]
  const chosen = Math.min(at, Math.max(0, entries.length - 1))
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.run()
  }
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') run(entries[chosen])
    else if (step !== undefined && entries.length > 0) setAt((chosen + step + entries.length) % entries.length)
    else return
    event.preventDefault()
  }
  return (
    <Dialog name="Search and commands" className="palette" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Search and commands"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries.length > 0 ? `palette-${chosen}` : undefined}
        placeholder="Page, ID, address, subject, domain or action"
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={move}
      />
      <div class="palette-list" id="palette-list" role="listbox" aria-label="Results" ref={list}>
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the field
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus (aria-activedescendant)
          <div
            key={entry.key}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            class="menu-item"
            onClick={() => run(entry)}
            onPointerMove={() => setAt(index)}
          >
            <Icon name={entry.icon} />
            <span class="ellipsis grow">{entry.text}</span>
            <span class="muted small ellipsis">{entry.detail ?? entry.group}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p class="muted">No results</p>}
    </Dialog>
  )
}

const fits = (text: string, wanted: string) => text.toLowerCase().includes(wanted.toLowerCase())

/** Pages, then actions. */
function commands(): Entry[] {
  const pages = PAGES.filter(({ group, needs }) => group !== undefined && may(needs)).map(
    ({ path, name, icon = '' }) => ({
      key: path,
      group: 'Page',
      icon,
      text: name,
      run: () => go(path),
    }),
  )
  const action = (text: string, icon: string, run: () => void): Entry => ({
    key: text,
    group: 'Action',
    icon,
    text,
    run,
  })
  return [
    ...pages,
    ...(may('messages_send') ? [action('Send a message', 'plus', () => go('/messages', { compose: 'yes' }))] : []),
    ...(may('invitations_create') ? [action('Invite a user', 'plus', () => go('/users', { invite: 'yes' }))] : []),
    ...(may('recipients_erase') ? [action('Erase a recipient', 'trash', () => go('/erasures', { erase: 'yes' }))] : []),
    action('Show bounced messages', 'ban', () => go('/messages', { status: 'bounced' })),
    action('Show deferred messages', 'refresh-cw', () => go('/messages', { status: 'deferred' })),
    action(mode.peek() === 'live' ? 'Switch to test mode' : 'Switch to live mode', 'flask-conical', () => {
      mode.value = mode.peek() === 'live' ? 'test' : 'live'
    }),
    action('Use the light theme', 'sun', () => {
      theme.value = 'light'
    }),
    action('Use the dark theme', 'moon', () => {
      theme.value = 'dark'
    }),
  ]
}

/** Pages of records by the prefix of their id. */
const RECORDS: Record<string, [name: string, path: string, icon: string]> = {
  msg: ['Open message', '/messages/', 'send'],
  dom: ['Open domain', '/domains/', 'globe'],
  whk: ['Open webhook', '/webhooks/', 'webhook'],
  tpl: ['Open template', '/templates/', 'file-text'],
  inb: ['Open inbound message', '/inbound/', 'inbox'],
}

function byId(text: string): Entry[] {
  const [, prefix = ''] = /^([a-z]{3})_[0-9a-z]+$/.exec(text) ?? []
  const record = RECORDS[prefix]
  if (record === undefined) return []
  const [name, path, icon] = record
  return [{ key: text, group: 'ID', icon, text: name, detail: text, run: () => go(`${path}${text}`) }]
}

/** At most five records of each kind. A kind that fails is left out. */
async function search(text: string, signal: AbortSignal): Promise<Entry[]> {
  const list = (path: string, query: Record<string, string>): Promise<Json[]> =>
    get<Paged>(path, query, signal).then(
      ({ data }) => data,
      () => [],
    )
  const [messages, domains, templates, suppressions] = await Promise.all([
    list('/v1/messages', { q: text, mode: mode.peek(), limit: '5' }),
    list('/v1/domains', { limit: '100' }),
    list('/v1/templates', { limit: '100' }),
    list('/v1/suppressions', { q: text, limit: '5' }),
  ])
  const named = (all: Json[], group: string, icon: string, path: string): Entry[] =>
    all
      .filter(({ name }) => fits(name, text))
      .slice(0, 5)
      .map(({ id, name }) => ({ key: id, group, icon, text: name, run: () => go(`${path}${id}`) }))
  return [
    ...named(domains, 'Domain', 'globe', '/domains/'),
    ...named(templates, 'Template', 'file-text', '/templates/'),
    ...suppressions.map(({ id, email }) => ({
      key: id,
      group: 'Suppression',
      icon: 'ban',
      text: email,
      run: () => go('/suppressions', { email }),
    })),
    ...messages.map(({ id, subject, recipients }) => ({
      key: id,
      group: 'Message',
      icon: 'send',
      text: subject || '(no subject)',
      detail: recipients[0]?.email,
      run: () => go(`/messages/${id}`),
    })),
  ]
}
