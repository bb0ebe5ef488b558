import type { Operation, Tag } from './document.ts'
import { Method } from './method.tsx'
import { withBreaks } from './prose.tsx'

/** A group of operations. */
export function TagPage({ tag }: { tag: Tag }) {
  return (
    <div class="stack">
      <h1>{tag.name}</h1>
      {tag.description !== '' && <p class="muted">{tag.description}</p>}
      <OperationList operations={tag.operations} />
    </div>
  )
}

/** Operations as links. */
export function OperationList({ operations }: { operations: readonly Operation[] }) {
  return (
    <ul class="operation-list card">
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
