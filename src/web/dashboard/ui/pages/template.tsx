import { useState } from 'preact/hooks'
import { get, type Json } from '../kit/api.ts'
import { useLoad } from '../kit/load.ts'
import { NeedsRole } from '../kit/needs-role.tsx'
import { Unloaded } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href, place } from '../kit/router.ts'
import { Editor } from './templates/editor.tsx'
import { NewTemplate } from './templates/gallery.tsx'

/** Editor of a template; `new` creates one. */
export default function TemplatePage({ template_id: id }: { template_id: string }) {
  if (id === 'new' && !may('templates_create')) return <NeedsRole name="New template" operation="templates_create" />
  return id === 'new' ? <NewTemplate key={`new ${place.value.query.kind}`} /> : <Existing key={id} id={id} />
}

/** Loads the template once: a reload must not replace what the user types. */
function Existing({ id }: { id: string }) {
  const [template, setTemplate] = useState<Json>()
  const { error, reload } = useLoad(
    async (signal) => template ?? setTemplate(await get(`/v1/templates/${id}`, {}, signal)),
    [id],
  )
  if (template !== undefined) return <Editor of={template} />
  return (
    <Unloaded name="Template" error={error} onRetry={reload}>
      <a href={href('/templates')}>All templates</a>
    </Unloaded>
  )
}
