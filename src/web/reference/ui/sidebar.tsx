import icon from '../../dashboard/ui/icon.svg'
import { Icon } from '../../dashboard/ui/kit/icon.tsx'
import { Segments } from '../../dashboard/ui/kit/pieces.tsx'
import { theme } from '../../dashboard/ui/kit/state.ts'
import type { Operation, Tag } from './document.ts'
import { withBreaks } from './prose.tsx'
import { isOperation, place, reference } from './state.ts'

const ICONS: Record<string, string> = {
  Messages: 'send',
  Templates: 'file-text',
  Events: 'activity',
  Statistics: 'chart-column',
  Suppressions: 'ban',
  Webhooks: 'webhook',
  'Inbound mail': 'inbox',
  Domains: 'globe',
  'API keys': 'key-round',
  Users: 'users',
  'Audit log': 'scroll-text',
  Operator: 'settings',
  Plan: 'building',
}

const THEMES = [
  ['auto', 'Auto'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

/** Groups, and the operations of the current one. */
export function Sidebar({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const at = place.value
  const tags = reference.value?.tags ?? []
  const current = isOperation(at) ? at.tag : at?.name
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click, too
    <nav
      class={`side ${isOpen ? 'open' : ''}`}
      id="navigation"
      aria-label="Operations"
      onClick={(event) => event.target instanceof Element && event.target.closest('a') && onClose()}
    >
      <a class="brand" href="#overview">
        <img src={icon} alt="" />
        <span class="strong">Postrider API</span>
      </a>
      <ul class="grow">
        <li>
          <a href="#overview" aria-current={at === null ? 'page' : undefined}>
            <Icon name="house" />
            Overview
          </a>
        </li>
        {tags.map((tag) => (
          <TagEntry key={tag.slug} tag={tag} isOpen={tag.name === current} at={at} />
        ))}
      </ul>
      <div class="stack tight">
        <ul>
          <li>
            <a href="/manual/">
              <Icon name="book-open" />
              Manual
            </a>
          </li>
          <li>
            <a href="/openapi.json">
              <Icon name="download" />
              openapi.json
            </a>
          </li>
        </ul>
        <Segments name="Theme" options={THEMES} chosen={theme.value} onChoose={(id) => (theme.value = id)} />
      </div>
    </nav>
  )
}

function TagEntry({ tag, isOpen, at }: { tag: Tag; isOpen: boolean; at: Operation | Tag | null }) {
  return (
    <li>
      <a href={`#${tag.slug}`} aria-current={at === tag ? 'page' : undefined}>
        <Icon name={ICONS[tag.name] ?? 'file-text'} />
        <span class="grow">{tag.name}</span>
      </a>
      {isOpen && (
        <ul class="operations">
          {tag.operations.map((operation) => (
            <li key={operation.id}>
              <a href={`#${operation.id}`} aria-current={at === operation ? 'page' : undefined}>
                <span class="grow break">{withBreaks(nameOf(operation))}</span>
                <Method of={operation.method} />
              </a>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

/** An event type names a webhook better than its sentence, and a second path is all that an alias has. */
const nameOf = ({ id, permission, path, summary }: Operation) =>
  permission === null || id.endsWith('_alias') ? path : summary

/** The HTTP method, in a colour of its own. */
export function Method({ of: method }: { of: string }) {
  return <span class={`method ${method}`}>{method === 'DELETE' ? 'DEL' : method}</span>
}
