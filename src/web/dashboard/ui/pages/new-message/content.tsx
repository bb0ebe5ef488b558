import { useState } from 'preact/hooks'
import { get, type Json, type Paged } from '../../kit/api.ts'
import { Field } from '../../kit/form.tsx'
import { useLoad } from '../../kit/load.ts'
import { ErrorNotice, Options } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { sampleText } from '../templates/sample.ts'

/** Fields for the content of a message: subject and texts, or a template with its variables. */
export function ContentFields() {
  const [id, setId] = useState('')
  const { data, error, reload } = useLoad(
    async (signal) => (may('templates_list') ? get<Paged>('/v1/templates', { limit: 100 }, signal) : { data: [] }),
    [],
  )
  const templates = (data?.data ?? []).filter(({ kind }) => kind === 'message')
  return (
    <>
      <ErrorNotice error={error} onRetry={reload} />
      {templates.length > 0 && (
        <Field name="template_id" label="Template">
          {(control) => (
            <select {...control} value={id} onChange={(event) => setId(event.currentTarget.value)}>
              <Options of={[['', 'None'], ...templates.map(({ id, name }) => [id, name] as const)]} chosen={id} />
            </select>
          )}
        </Field>
      )}
      {id === '' ? <Texts /> : <OfTemplate key={id} id={id} />}
    </>
  )
}

function Texts() {
  return (
    <>
      <Field name="subject" label="Subject">
        {(control) => <input {...control} required defaultValue="Hello" dir="auto" />}
      </Field>
      <Field name="text" label="Text">
        {(control) => <textarea {...control} rows={4} defaultValue="It works." dir="auto" />}
      </Field>
      <details>
        <summary>HTML</summary>
        <Field name="html" label="HTML" hint="If the text is empty, Postrider generates it from the HTML.">
          {(control) => <textarea {...control} class="mono" rows={6} />}
        </Field>
      </details>
    </>
  )
}

/** The variables begin as the sample of the template; a template without a subject asks for one. */
function OfTemplate({ id }: { id: string }) {
  const { data, error, reload } = useLoad((signal): Promise<Json> => get(`/v1/templates/${id}`, {}, signal), [id])
  if (data === undefined) return <ErrorNotice error={error} onRetry={reload} />
  return (
    <>
      {data.subject === null && (
        <Field name="subject" label="Subject">
          {(control) => <input {...control} required dir="auto" />}
        </Field>
      )}
      {(data.variables.length > 0 || Object.keys(data.sample).length > 0) && (
        <Field name="variables" label="Variables" hint="A JSON object.">
          {(control) => <textarea {...control} class="mono" rows={8} defaultValue={sampleText(data.sample)} />}
        </Field>
      )}
    </>
  )
}
