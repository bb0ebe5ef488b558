import type { Operation, Reference } from './document.ts'
import { find } from './find.ts'
import { withBreaks } from './prose.tsx'
import { Method } from './sidebar.tsx'
import { query } from './state.ts'

/** The operations that match the search. */
export function Results({ reference }: { reference: Reference }) {
  const found = find(query.value, reference)
  const count = found.length === 1 ? '1 operation matches' : `${found.length || 'No'} operations match`
  return (
    <section class="stack" aria-label="Search results">
      <h1>Search results</h1>
      <p class="muted" role="status">
        {count} “{query.value.trim()}”.
      </p>
      <OperationList operations={found} className="results" />
    </section>
  )
}

/** Operations as links; the arrow keys move between them. */
export function OperationList({
  operations,
  className = '',
}: {
  operations: readonly Operation[]
  className?: string
}) {
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined || !(event.currentTarget instanceof Element)) return
    const links = [...event.currentTarget.querySelectorAll('a')]
    const next = links[links.indexOf(document.activeElement as HTMLAnchorElement) + step]
    if (next === undefined) return
    event.preventDefault()
    next.focus()
  }
  if (operations.length === 0) return null
  return (
    <ul class={`operation-list card ${className}`} onKeyDown={move}>
      {operations.map(({ id, method, path, summary }) => (
        <li key={id}>
          <a href={`#${id}`}>
            <Method of={method} />
            <span class="summary">{summary}</span>
            <code class="muted">{withBreaks(path)}</code>
          </a>
        </li>
      ))}
    </ul>
  )
}
