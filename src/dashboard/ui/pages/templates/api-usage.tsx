import type { Json } from '../../kit/api.ts'
import { CopyButton } from '../../kit/pieces.tsx'
import { variablesOf } from './sample.ts'

/** Example fields of an API request that uses the template. */
export function ApiUsage({ template: { id, alias }, variables }: { template: Json; variables: readonly string[] }) {
  const examples = Object.fromEntries(variables.map((name) => [name, '…']))
  const body = JSON.stringify({ template_id: alias ?? id, variables: variablesOf(examples) }, null, 2)
  return (
    <details>
      <summary>API usage</summary>
      <div class="stack tight">
        <div class="row apart">
          <span class="muted">
            Add to <code>POST /v1/messages/send</code>, with <code>from</code> and <code>to</code>
          </span>
          <CopyButton text={body} label="JSON" />
        </div>
        <pre class="wrap">{body}</pre>
      </div>
    </details>
  )
}
