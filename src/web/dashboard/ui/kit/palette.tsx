import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { commands, recentRecords } from './palette-commands.ts'
import { byId, type Entry, search } from './palette-search.ts'
import { organization } from './state.ts'

const WAIT_MS = 150

/** Search and commands: recent records, pages, actions, records by id, records by words or address, and the manual. The
 *  arrow keys choose, Enter runs, Escape closes. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [found, setFound] = useState<{ wanted: string; entries: Entry[] }>()
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const wanted = text.trim()
  const isSearched = wanted.length >= 2 && organization.peek() !== null
  const records = found?.wanted === wanted ? found.entries : null
  useEffect(() => {
    if (!isSearched) return
    const given = new AbortController()
    const timer = window.setTimeout(() => {
      search(wanted, given.signal).then((entries) => given.signal.aborted || setFound({ wanted, entries }))
    }, WAIT_MS)
    return () => {
      window.clearTimeout(timer)
      given.abort()
    }
  }, [wanted])
  const entries = [...byId(wanted), ...(wanted === '' ? recentRecords() : []), ...commands(wanted), ...(records ?? [])]
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
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
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
      {entries.length === 0 && <p class="muted">{isSearched && records === null ? 'Searching…' : 'No results'}</p>}
    </Dialog>
  )
}
