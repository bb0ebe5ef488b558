import { useEffect, useRef, useState } from 'preact/hooks'
import type { TemplateKind } from '../../../../../model/template.ts'
import { ApiError, errorText, type Json, patch, post, remove } from '../../kit/api.ts'
import { IS_APPLE } from '../../kit/browser-name.ts'
import { confirm } from '../../kit/dialog.tsx'
import { FaultsOf } from '../../kit/form.tsx'
import { Head } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { go, notePage } from '../../kit/router.ts'
import { session } from '../../kit/state.ts'
import { toast, toastError } from '../../kit/toast.tsx'
import { useUnsaved } from '../../kit/unsaved.ts'
import { ApiUsage } from './api-usage.tsx'
import { changesOf, contentOf, type Draft, draftOf, forgetDraft, keepDraft, keptDraft, withSaved } from './draft.ts'
import { faultsOf, wrongLocalesOf } from './faults.ts'
import { Fields, type FieldTab, NameField, TemplateBar } from './fields.tsx'
import { InUse, usersIn } from './in-use.tsx'
import { KINDS, kindText } from './kinds.ts'
import { AddLocale, LocaleField } from './locales.tsx'
import { PreviewPane } from './preview-pane.tsx'
import { readSample, sampleText, withMissing } from './sample.ts'
import { SendTest } from './send-test.tsx'
import { sentByTemplate, sentText } from './sent.ts'
import { type Texts, usePreview } from './use-preview.ts'

/** Source on the left, preview on the right, both in one language. A change affects messages only after the user saves it.
 *  `kind` and `start` are kind and content of a new template. */
export function Editor({
  of: given,
  kind: newKind = 'message',
  start = null,
}: {
  of: Json | null
  kind?: TemplateKind
  start?: Json | null
}) {
  const kind: TemplateKind = given?.kind ?? newKind
  const { noun } = KINDS[kind]
  const key = given?.id ?? kindText(kind)
  const [saved, setSaved] = useState<Json | null>(given)
  const [draft, setDraft] = useState<Draft>(() => keptDraft(key) ?? draftOf(given ?? start))
  const [isRestored, setRestored] = useState(() => keptDraft(key) !== null)
  const [tab, setTab] = useState<FieldTab>(draft[draft.source] === '' && draft.text !== '' ? 'text' : 'html')
  const [chosen, setChosen] = useState('')
  const [refusal, setRefusal] = useState<unknown>(null)
  const [notDeleted, setNotDeleted] = useState<Json[] | null>(null)
  const [isSaving, setSaving] = useState(false)
  const [open, setOpen] = useState<'send' | 'locale' | null>(null)
  const locale = chosen in draft.locales ? chosen : ''
  // What the user has typed and turned to while a request was under way.
  const now = useRef({ draft, locale, tab })
  now.current = { draft, locale, tab }
  const texts = draft.locales[locale] ?? draft
  const changes = changesOf(draft, saved)
  const isUnsaved = Object.keys(saved === null ? changesOf(draft, start ?? draftOf(null)) : changes).length > 0
  useUnsaved(isUnsaved)
  useKeptDraft(key, isUnsaved ? draft : null)
  const read = readSample(draft.sample)
  const sample = useRef<Record<string, unknown>>({})
  if ('sample' in read) sample.current = read.sample
  const variables = kind === 'layout' ? { content: CONTENT, ...sample.current } : sample.current
  const preview = usePreview(texts, variables, { layout: draft.layout, locale })
  const faults = {
    ...(refusal === null ? {} : faultsOf(refusal, locale).texts),
    ...preview.faults,
    ...('fault' in read && { sample: read.fault }),
  }
  const change = (part: Partial<Draft>) => {
    setRefusal(null)
    setDraft((before) => ({ ...before, ...part }))
  }
  const changeTexts = (part: Partial<Texts>) =>
    locale === '' ? change(part) : change({ locales: { ...draft.locales, [locale]: { ...texts, ...part } } })
  const addLocale = (added: string) => {
    const { subject, html, mjml, source, text } = texts
    change({ locales: { ...draft.locales, [added]: { subject, html, mjml, source, text } } })
    setChosen(added)
    setOpen(null)
  }
  const removeLocale = async () => {
    const isSure = await confirm({
      name: `Remove the locale ${locale}?`,
      text: 'After you save, messages with this locale get the texts that they fall back to.',
      action: 'Remove locale',
      isDangerous: true,
    })
    if (!isSure) return
    const { [locale]: _, ...locales } = draft.locales
    change({ locales })
    setChosen('')
  }

  const save = async () => {
    if (isSaving || !may('templates_update') || (saved !== null && !isUnsaved)) return
    if ('fault' in read) return setTab('sample')
    setSaving(true)
    const isStillHere = notePage()
    try {
      const answer =
        saved === null
          ? await post('/v1/templates', { kind, ...changes })
          : await patch(`/v1/templates/${saved.id}`, changes)
      toast(saved?.version === answer.version ? 'Saved' : `Saved as version ${answer.version}`)
      forgetDraft(key)
      setRestored(false)
      if (saved === null) {
        if (!isStillHere()) return
        keepDraft(answer.id, withSaved(now.current.draft, answer))
        return go(`/templates/${answer.id}`, {}, { replace: true, isSure: true })
      }
      setSaved(answer)
      setDraft((typed) => withSaved(typed, answer))
    } catch (thrown) {
      setRefusal(thrown)
      if (now.current.locale !== locale || now.current.tab !== tab) return
      const wrong = wrongLocalesOf(thrown)
      const shown = wrong.length === 0 || wrong.includes(locale) ? locale : wrong[0]!
      setChosen(shown)
      const { html, mjml, text } = faultsOf(thrown, shown).texts
      if (html || mjml) setTab('html')
      else if (text) setTab('text')
    } finally {
      setSaving(false)
    }
  }
  useSaveKey(save)
  const drop = async () => {
    const isStillHere = notePage()
    const sent = kind === 'message' ? ((await sentByTemplate().catch(() => null))?.get(saved.id) ?? 0) : 0
    if (!isStillHere()) return
    const isSure = await confirm({
      name: `Delete ${saved.name}?`,
      text:
        kind === 'message'
          ? `${sent === 0 ? '' : `It sent ${sentText(sent)}. `}Requests that use it will fail. Messages already created from it are not affected.`
          : `Postrider refuses this while templates use the ${noun}. Messages already created are not affected.`,
      action: `Delete ${noun}`,
      isDangerous: true,
      typed: sent > 0 ? saved.name : '',
    })
    if (!isSure) return
    try {
      await remove(`/v1/templates/${saved.id}`)
      toast(`${saved.name} deleted`)
      if (isStillHere()) go('/templates', { kind: kindText(kind) }, { isSure: true })
    } catch (thrown) {
      setNotDeleted(usersIn(thrown))
      if (usersIn(thrown) === null) toastError(thrown)
    }
  }
  const users = refusal === null ? null : usersIn(refusal)
  return (
    <FaultsOf.Provider value={refusal instanceof ApiError ? refusal.fields : {}}>
      <Head
        name={saved?.name ?? `New ${noun}`}
        about={aboutOf(kind, saved, isUnsaved)}
        field={<NameField noun={noun} name={draft.name} onChange={(name) => change({ name })} />}
      >
        {kind === 'message' && may('messages_send') && (
          <button
            type="button"
            disabled={preview.rendered === null || preview.isBehind}
            onClick={() => setOpen('send')}
          >
            Send test
          </button>
        )}
        {may('templates_update') && (
          <button type="submit" form="template" class="primary" disabled={isSaving || (saved !== null && !isUnsaved)}>
            {saved === null ? `Create ${noun}` : 'Save'}
            <span aria-hidden="true">
              {' '}
              <kbd>{IS_APPLE ? '⌘' : 'Ctrl'} S</kbd>
            </span>
          </button>
        )}
      </Head>
      {users !== null && <InUse noun={noun} users={users} />}
      {refusal !== null && users === null && isOfNoField(refusal) && (
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
      <TemplateBar kind={kind} isTest={saved?.mode === 'test'} draft={draft} onChange={change}>
        <LocaleField
          locales={Object.keys(draft.locales)}
          locale={locale}
          wrong={refusal === null ? [] : wrongLocalesOf(refusal)}
          onChoose={setChosen}
          onAdd={() => setOpen('locale')}
          onRemove={removeLocale}
        />
      </TemplateBar>
      <div class="editor">
        <form
          id="template"
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            void save()
          }}
        >
          <Fields
            kind={kind}
            draft={draft}
            locale={locale}
            texts={texts}
            faults={faults}
            tab={tab}
            onTab={setTab}
            onChange={change}
            onTexts={changeTexts}
          />
        </form>
        <PreviewPane
          preview={preview}
          kind={kind}
          template={saved}
          texts={texts}
          draft={draft}
          isUnsaved={isUnsaved}
          onOldVersion={(version) => change(contentOf(version))}
          onMissing={(names) => {
            const { subject, source, text } = texts
            setTab('sample')
            change({ sample: sampleText(withMissing(sample.current, names, [subject, draft[source], text])) })
          }}
        />
      </div>
      {saved !== null && (
        <div class="stack">
          <ApiUsage template={saved} />
          {notDeleted !== null && <InUse noun={noun} users={notDeleted} />}
          {may('templates_delete') && (
            <div class="row">
              <button type="button" class="danger" onClick={drop}>
                Delete {noun}
              </button>
            </div>
          )}
        </div>
      )}
      {open === 'send' && <SendTest rendered={preview.rendered} onClose={() => setOpen(null)} />}
      {open === 'locale' && (
        <AddLocale locales={Object.keys(draft.locales)} onAdd={addLocale} onClose={() => setOpen(null)} />
      )}
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

/** Stands for the text of a template in the preview of a layout. */
const CONTENT = 'The text of the template appears here.'

function aboutOf(kind: TemplateKind, saved: Json | null, isUnsaved: boolean): string {
  if (saved === null && kind === 'layout') return 'Liquid syntax, with {{ content }} once in HTML and in plain text.'
  if (saved === null) return 'Liquid syntax: {{ user.name }}, {% if … %}, {{ name | default: "friend" }}.'
  const what = kind === 'message' ? '' : ` of this ${KINDS[kind].noun}`
  return `Version ${saved.version}${what}${isUnsaved ? ', unsaved changes' : ''}`
}

const FIELDS = ['name', 'alias', 'layout', 'subject', 'html', 'mjml', 'text']
const isOfNoField = (thrown: unknown) =>
  !(thrown instanceof ApiError) ||
  (wrongLocalesOf(thrown).length === 0 && !Object.keys(thrown.fields).some((name) => FIELDS.includes(name)))
