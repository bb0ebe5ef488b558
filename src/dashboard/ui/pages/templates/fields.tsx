import { FaultsOf, Field } from '../../kit/form.tsx'
import { Tabs } from '../../kit/pieces.tsx'
import { CodeField } from './code-field.tsx'
import type { Draft } from './draft.ts'
import type { TextFault, TextName } from './faults.ts'

export type FieldTab = 'html' | 'text' | 'sample'

/** Fields of a template: name, alias, subject, and a code editor for HTML, plain text or sample. */
export function Fields({
  draft,
  faults,
  tab,
  onTab,
  onChange,
}: {
  draft: Draft
  faults: Partial<Record<TextName | 'sample', TextFault>>
  tab: FieldTab
  onTab: (tab: FieldTab) => void
  onChange: (part: Partial<Draft>) => void
}) {
  const labelOf = (name: FieldTab) => (faults[name] ? `${LABELS[name]} (error)` : LABELS[name])
  return (
    <>
      <NameFields draft={draft} onChange={onChange} />
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
      <Tabs name="Body" tabs={TABS.map((name) => [name, labelOf(name)] as const)} chosen={tab} onChoose={onTab}>
        <CodeField
          key={tab}
          label={LABELS[tab]}
          language={tab === 'sample' ? 'json' : tab}
          value={draft[tab]}
          fault={faults[tab]}
          onInput={(text) => onChange({ [tab]: text })}
        />
        {tab !== 'html' && <p class="muted small">{ABOUT[tab]}</p>}
      </Tabs>
    </>
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

const TABS = ['html', 'text', 'sample'] as const
const LABELS: Record<FieldTab, string> = { html: 'HTML', text: 'Plain text', sample: 'Sample' }
const ABOUT = {
  text: 'If empty, Postrider generates it from the HTML when it sends a message.',
  sample: 'A JSON object of values for the preview and the analysis, saved with the template. Messages never use it.',
}
