import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, errorText, type Json, patch, post, remove } from '../../kit/api.ts'
import { confirm } from '../../kit/dialog.tsx'
import { FaultsOf } from '../../kit/form.tsx'
import { Head } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { go } from '../../kit/router.ts'
import { session } from '../../kit/state.ts'
import { attempt, toast } from '../../kit/toast.tsx'
import { useUnsaved } from '../../kit/unsaved.ts'
import { ApiUsage } from './api-usage.tsx'
import { changesOf, type Draft, draftOf, forgetDraft, keepDraft, keptDraft, sourceOf } from './draft.ts'
import { faultsOf } from './faults.ts'
import { Fields, type FieldTab } from './fields.tsx'
import { PreviewPane } from './preview-pane.tsx'
import { readSample, sampleText, withMissing } from './sample.ts'
import { SendTest } from './send-test.tsx'
import { usePreview } from './use-preview.ts'

/** Source on the left, preview on the right. A change affects messages only after the user saves it. `start` is the
 *  content of a new template. */
export function Editor({ of: given, start = null }: { of: Json | null; start?: Json | null }) {
  const [saved, setSaved] = useState<Json | null>(given)
  const [draft, setDraft] = useState<Draft>(() => keptDraft(given?.id ?? '') ?? draftOf(given ?? start))
  const [isRestored, setRestored] = useState(() => keptDraft(given?.id ?? '') !== null)
  const [tab, setTab] = useState<FieldTab>(draft[draft.source] === '' && draft.text !== '' ? 'text' : 'html')
  const [refusal, setRefusal] = useState<unknown>(null)
  const [isSaving, setSaving] = useState(false)
  const [isSending, setSending] = useState(false)
  const changes = changesOf(draft, saved)
  const isUnsaved = Object.keys(saved === null ? changesOf(draft, start ?? draftOf(null)) : changes).length > 0
  useUnsaved(isUnsaved)
  useKeptDraft(saved?.id ?? '', isUnsaved ? draft : null)
  const read = readSample(draft.sample)
  const sample = useRef<Record<string, unknown>>({})
  if ('sample' in read) sample.current = read.sample
  const preview = usePreview(draft, sample.current)
  const faults = {
    ...(refusal === null ? {} : faultsOf(refusal).texts),
    ...preview.faults,
    ...('fault' in read && { sample: read.fault }),
  }
  const change = (part: Partial<Draft>) => {
    setRefusal(null)
    setDraft((before) => ({ ...before, ...part }))
  }

  const save = async () => {
    if (isSaving || !may('templates_update') || (saved !== null && !isUnsaved)) return
    if ('fault' in read) return setTab('sample')
    setSaving(true)
    try {
      const now =
        saved === null ? await post('/v1/templates', changes) : await patch(`/v1/templates/${saved.id}`, changes)
      toast(saved?.version === now.version ? 'Saved' : `Saved as version ${now.version}`)
      forgetDraft(saved?.id ?? '')
      setRestored(false)
      if (saved === null) return go(`/templates/${now.id}`, {}, { replace: true, isSure: true })
      setSaved(now)
      setDraft((typed) => (typed.source === 'mjml' ? { ...typed, html: now.html ?? '' } : { ...typed, mjml: '' }))
    } catch (thrown) {
      setRefusal(thrown)
      const { html, mjml, text } = faultsOf(thrown).texts
      if (html || mjml) setTab('html')
      else if (text) setTab('text')
    } finally {
      setSaving(false)
    }
  }
  useSaveKey(save)
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
          <button type="submit" form="template" class="primary" disabled={isSaving || (saved !== null && !isUnsaved)}>
            {saved === null ? 'Create template' : 'Save'}
          </button>
        )}
      </Head>
      {refusal !== null && isOfNoField(refusal) && (
        <p class="notice bad" role="alert">
          {errorText(refusal)}
        </p>
      )}
      {isRestored && isUnsaved && (
        <p class="notice row apart" role="status">
          These are your unsaved changes from before.
          <button
            type="button"
            class="tiny"
            onClick={() => {
              setRestored(false)
              change(draftOf(saved ?? start))
            }}
          >
            Discard changes
          </button>
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
        >
          <Fields draft={draft} faults={faults} tab={tab} onTab={setTab} onChange={change} />
        </form>
        <PreviewPane
          preview={preview}
          template={saved}
          draft={draft}
          isUnsaved={isUnsaved}
          onOldVersion={(version) => {
            const { subject, text } = version
            change({ subject: subject ?? '', ...sourceOf(version), text: text ?? '' })
          }}
          onMissing={(names) => {
            const { subject, source, text } = draft
            setTab('sample')
            change({ sample: sampleText(withMissing(sample.current, names, [subject, draft[source], text])) })
          }}
        />
      </div>
      {saved !== null && (
        <div class="stack">
          <ApiUsage template={saved} />
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

/** Keeps the draft in the browser tab; null forgets it. Leaving the page forgets it too, since the user was asked; the
 *  end of the session does not. */
function useKeptDraft(id: string, draft: Draft | null): void {
  useEffect(() => {
    if (draft === null) forgetDraft(id)
    else keepDraft(id, draft)
  }, [id, draft])
  useEffect(
    () => () => {
      if (session.peek()) forgetDraft(id)
    },
    [id],
  )
}

/** ⌘S or Ctrl S saves, wherever the focus is, unless a dialog is open. */
function useSaveKey(save: () => Promise<unknown>): void {
  const current = useRef(save)
  current.current = save
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      if (document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      void current.current()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

function aboutOf(saved: Json | null, isUnsaved: boolean): string {
  if (saved === null) return 'Liquid syntax: {{ user.name }}, {% if … %}, {{ name | default: "friend" }}.'
  return `Version ${saved.version}${isUnsaved ? ', unsaved changes' : ''}`
}

const FIELDS = ['name', 'alias', 'subject', 'html', 'mjml', 'text']
const isOfNoField = (thrown: unknown) =>
  !(thrown instanceof ApiError) || !Object.keys(thrown.fields).some((name) => FIELDS.includes(name))
