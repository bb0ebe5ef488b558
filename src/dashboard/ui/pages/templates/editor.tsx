import { useMemo, useState } from 'preact/hooks'
import { ApiError, errorText, type Json, patch, post, remove } from '../../kit/api.ts'
import { confirm } from '../../kit/dialog.tsx'
import { FaultsOf, Field } from '../../kit/form.tsx'
import { Head, Tabs } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { go } from '../../kit/router.ts'
import { attempt, toast } from '../../kit/toast.tsx'
import { useUnsaved } from '../../kit/unsaved.ts'
import { ApiUsage } from './api-usage.tsx'
import { CodeField } from './code-field.tsx'
import { faultsOf } from './faults.ts'
import { PreviewPane } from './preview-pane.tsx'
import { keepSample, useSample, variablesOf } from './sample.ts'
import { SendTest } from './send-test.tsx'
import { textsGiven, usePreview } from './use-preview.ts'
import { Variables } from './variables.tsx'

/** Source on the left, preview on the right. A change affects messages only after the user saves it. */
export function Editor({ of: given }: { of: Json | null }) {
  const [saved, setSaved] = useState<Json | null>(given)
  const [draft, setDraft] = useState<Draft>(() => draftOf(given))
  const [typed, type] = useSample(saved?.id ?? '')
  const [tab, setTab] = useState<'html' | 'text'>(given !== null && given.html === null ? 'text' : 'html')
  const [refusal, setRefusal] = useState<unknown>(null)
  const [isSaving, setSaving] = useState(false)
  const [isSending, setSending] = useState(false)
  const isUnsaved = JSON.stringify(draft) !== JSON.stringify(draftOf(saved))
  useUnsaved(isUnsaved)
  const preview = usePreview(
    draft,
    useMemo(() => variablesOf(typed), [typed]),
  )
  const faults = { ...(refusal === null ? {} : faultsOf(refusal).texts), ...preview.faults }
  const change = (part: Partial<Draft>) => {
    setRefusal(null)
    setDraft((before) => ({ ...before, ...part }))
  }

  const save = async () => {
    if (isSaving) return
    setSaving(true)
    try {
      const { name, alias } = draft
      const body = { name, alias: alias === '' ? null : alias, ...textsGiven(draft) }
      const now = saved === null ? await post('/v1/templates', body) : await patch(`/v1/templates/${saved.id}`, body)
      toast(saved?.version === now.version ? 'Saved' : `Saved as version ${now.version}`)
      if (saved === null) {
        keepSample(now.id, typed)
        keepSample('', {})
        return go(`/templates/${now.id}`, {}, { replace: true, isSure: true })
      }
      setSaved(now)
      setDraft(draftOf(now))
    } catch (thrown) {
      setRefusal(thrown)
      const { html, text } = faultsOf(thrown).texts
      if (html) setTab('html')
      else if (text) setTab('text')
    } finally {
      setSaving(false)
    }
  }
  const drop = async () => {
    const isSure = await confirm({
      name: `Delete ${saved.name}?`,
      text: 'Requests that use it will fail. Messages already created from it are not affected.',
      action: 'Delete template',
      isDangerous: true,
    })
    if (isSure && (await attempt(() => remove(`/v1/templates/${saved.id}`), `${saved.name} deleted`)))
      go('/templates', {}, { isSure: true })
  }
  return (
    <FaultsOf.Provider value={refusal instanceof ApiError ? refusal.fields : {}}>
      <Head name={saved?.name ?? 'New template'} about={aboutOf(saved, isUnsaved)}>
        {may('messages_send') && (
          <button
            type="button"
            disabled={preview.rendered === null || preview.isBehind}
            onClick={() => setSending(true)}
          >
            Send test
          </button>
        )}
        {may('templates_update') && (
          <button type="submit" form="template" class="primary" disabled={isSaving || !isUnsaved}>
            {saved === null ? 'Create template' : 'Save'}
          </button>
        )}
      </Head>
      {refusal !== null && isOfNoField(refusal) && (
        <p class="notice bad" role="alert">
          {errorText(refusal)}
        </p>
      )}
      <div class="editor">
        <form
          id="template"
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            void save()
          }}
          onKeyDown={(event) => {
            if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            event.currentTarget.requestSubmit()
          }}
        >
          <NameFields draft={draft} onChange={change} />
          <ContentFields draft={draft} faults={faults} tab={tab} onTab={setTab} onChange={change} />
          <Variables names={preview.variables} missing={preview.missing} typed={typed} onType={type} />
        </form>
        <PreviewPane
          preview={preview}
          template={saved}
          onOldVersion={(old) => change(pick(draftOf(old), ['subject', 'html', 'text']))}
        />
      </div>
      {saved !== null && (
        <div class="stack">
          <ApiUsage template={saved} variables={saved.variables} />
          {may('templates_delete') && (
            <div class="row">
              <button type="button" class="danger" onClick={drop}>
                Delete template
              </button>
            </div>
          )}
        </div>
      )}
      {isSending && <SendTest rendered={preview.rendered} onClose={() => setSending(false)} />}
    </FaultsOf.Provider>
  )
}

function NameFields({ draft, onChange }: { draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  return (
    <div class="columns">
      <Field name="name" label="Name">
        {(control) => (
          <input
            {...control}
            required
            maxLength={100}
            value={draft.name}
            onInput={(event) => onChange({ name: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field name="alias" label="Alias" hint="Use it in API calls instead of the ID.">
        {(control) => (
          <input
            {...control}
            class="mono"
            placeholder="welcome"
            spellcheck={false}
            autoCapitalize="off"
            value={draft.alias}
            onInput={(event) => onChange({ alias: event.currentTarget.value })}
          />
        )}
      </Field>
    </div>
  )
}

/** Subject, and HTML or plain text of the body. */
function ContentFields({
  draft,
  faults,
  tab,
  onTab,
  onChange,
}: {
  draft: Draft
  faults: ReturnType<typeof faultsOf>['texts']
  tab: 'html' | 'text'
  onTab: (tab: 'html' | 'text') => void
  onChange: (part: Partial<Draft>) => void
}) {
  return (
    <>
      <FaultsOf.Provider value={faults.subject ? { subject: faults.subject.message } : {}}>
        <Field name="subject" label="Subject" hint="Leave empty to set the subject per message.">
          {(control) => (
            <input
              {...control}
              placeholder="Welcome, {{ user.name }}"
              value={draft.subject}
              onInput={(event) => onChange({ subject: event.currentTarget.value })}
            />
          )}
        </Field>
      </FaultsOf.Provider>
      <Tabs
        name="Body"
        tabs={[
          ['html', faults.html ? 'HTML (error)' : 'HTML'],
          ['text', faults.text ? 'Plain text (error)' : 'Plain text'],
        ]}
        chosen={tab}
        onChoose={onTab}
      >
        <CodeField
          key={tab}
          name={tab}
          label={tab === 'html' ? 'HTML' : 'Plain text'}
          value={draft[tab]}
          fault={faults[tab]}
          onInput={(text) => onChange({ [tab]: text })}
        />
        {tab === 'text' && (
          <p class="muted small">If empty, Postrider generates it from the HTML when it sends a message.</p>
        )}
      </Tabs>
    </>
  )
}

interface Draft {
  name: string
  alias: string
  subject: string
  html: string
  text: string
}

function draftOf(template: Json | null): Draft {
  const { name, alias, subject, html, text } = template ?? {}
  return { name: name ?? '', alias: alias ?? '', subject: subject ?? '', html: html ?? '', text: text ?? '' }
}

function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>
}

function aboutOf(saved: Json | null, isUnsaved: boolean): string {
  if (saved === null) return 'Liquid syntax: {{ user.name }}, {% if … %}, {{ name | default: "friend" }}.'
  return `Version ${saved.version}${isUnsaved ? ', unsaved changes' : ''}`
}

const FIELDS = ['name', 'alias', 'subject', 'html', 'text']
const isOfNoField = (thrown: unknown) =>
  !(thrown instanceof ApiError) || !Object.keys(thrown.fields).some((name) => FIELDS.includes(name))
