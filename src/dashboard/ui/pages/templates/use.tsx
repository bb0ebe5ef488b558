import type { Json } from '../../kit/api.ts'
import { CopyButton } from '../../kit/pieces.tsx'
import { variablesOf } from './sample.ts'

/** What a program sends to use it. */
export function Use({ template: { id, alias }, variables }: { template: Json; variables: readonly string[] }) {
  const examples = Object.fromEntries(variables.map((name) => [name, '…']))
  const body = JSON.stringify({ template_id: alias ?? id, variables: variablesOf(examples) }, null, 2)
  return (
    <details>
      <summary>Use it</summary>
      <div class="stack tight">
        <div class="row apart">
          <span class="muted">
            In <code>POST /v1/messages/send</code>, beside <code>from</code> and <code>to</code>
          </span>
          <CopyButton text={body} label="fields" />
        </div>
        <pre class="wrap">{body}</pre>
      </div>
    </details>
  )
}
