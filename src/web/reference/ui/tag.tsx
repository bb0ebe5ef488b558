import type { Tag } from './document.ts'
import { OperationList } from './results.tsx'

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
