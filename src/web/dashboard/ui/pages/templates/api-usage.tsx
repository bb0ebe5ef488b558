import type { Json } from '../../kit/api.ts'
import { CopyButton, withCode } from '../../kit/pieces.tsx'

/** How to use the template: fields of an API request with its sample, or the tag or field of a part. */
export function ApiUsage({ template }: { template: Json }) {
  const [where, what, code] = usageOf(template)
  return (
    <details>
      <summary>{template.kind === 'message' ? 'API usage' : 'Usage'}</summary>
      <div class="stack tight">
        <div class="row apart">
          <span class="muted">{withCode(where)}</span>
          <CopyButton text={code} label={what} />
        </div>
        <pre class="wrap">{code}</pre>
      </div>
    </details>
  )
}

function usageOf({ id, alias, kind, sample, locales }: Json): [where: string, what: string, code: string] {
  if (kind === 'partial') return ['Insert into a template, layout or partial', 'tag', `{% render "${alias ?? ''}" %}`]
  if (kind === 'layout')
    return [
      'Choose it in a template, or add to `POST /v1/templates`',
      'JSON',
      JSON.stringify({ layout: alias }, null, 2),
    ]
  const [locale] = Object.keys(locales)
  const body = { template_id: alias ?? id, ...(locale !== undefined && { locale }), variables: sample }
  return ['Add to `POST /v1/messages/send`, with `from` and `to`', 'JSON', JSON.stringify(body, null, 2)]
}
