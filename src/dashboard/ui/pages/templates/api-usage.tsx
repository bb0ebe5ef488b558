import type { Json } from '../../kit/api.ts'
import { CopyButton } from '../../kit/pieces.tsx'

/** Example fields of an API request that uses the template, with its sample. */
export function ApiUsage({ template: { id, alias, sample } }: { template: Json }) {
  const body = JSON.stringify({ template_id: alias ?? id, variables: sample }, null, 2)
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
