import type { ComponentChildren } from 'preact'
import type { TemplateKind } from '../../../../../model/template.ts'
import { FaultsOf, Field } from '../../kit/form.tsx'
import { Choice, Tabs } from '../../kit/pieces.tsx'
import { CodeField } from './code-field.tsx'
import type { Draft } from './draft.ts'
import type { TextFault, TextName } from './faults.ts'
import { LayoutChoice } from './layout-choice.tsx'
import type { Texts } from './use-preview.ts'

export type FieldTab = 'html' | 'text' | 'sample'

/** Fields of a template in one language: subject and a code editor for HTML or plain text; and the sample. Layouts and
 *  partials have no subject. */
export function Fields({
  kind,
  draft,
  locale,
  texts,
  faults,
  tab,
  onTab,
  onChange,
  onTexts,
}: {
  kind: TemplateKind
  draft: Draft
  /** The language that is shown, and its texts. */
  locale: string
  texts: Texts
  faults: Partial<Record<TextName | 'sample', TextFault>>
  tab: FieldTab
  onTab: (tab: FieldTab) => void
  onChange: (part: Partial<Draft>) => void
  onTexts: (part: Partial<Texts>) => void
}) {
  const nameOf = (name: FieldTab) => (name === 'html' ? texts.source : name)
  // A fault of the html that Postrider compiled is one of its MJML.
  const faultOf = (name: FieldTab) => faults[nameOf(name)] ?? faults[name]
  const shown = nameOf(tab)
  // MJML compiles to a whole document, which cannot be put into another one.
  const mayBeMjml = kind === 'layout' || (kind === 'message' && draft.layout === '')
  const labelOf = (name: FieldTab) => `${LABELS[nameOf(name)]}${faultOf(name) ? ' (error)' : ''}`
  return (
    <>
      {kind === 'message' && (
        <FaultsOf.Provider value={faults.subject ? { subject: faults.subject.message } : {}}>
          <Field name="subject" label="Subject">
            {(control) => (
              <input
                {...control}
                dir="auto"
                placeholder="Empty: set per message"
                value={texts.subject}
                onInput={(event) => onTexts({ subject: event.currentTarget.value })}
              />
            )}
          </Field>
        </FaultsOf.Provider>
      )}
      <Tabs name="Body" tabs={TABS.map((name) => [name, labelOf(name)] as const)} chosen={tab} onChoose={onTab}>
        {tab === 'html' && (mayBeMjml || texts.source === 'mjml') && (
          <div class="row section-head">
            <Choice
              name="Source"
              value={texts.source}
              options={SOURCES}
              onChange={(source) => onTexts({ source, ...(texts.mjml === '' && { mjml: firstMjml(kind) }) })}
            />
          </div>
        )}
        <CodeField
          key={shown === 'sample' ? shown : `${locale} ${shown}`}
          label={LABELS[shown]}
          language={tab === 'sample' ? 'json' : tab}
          value={shown === 'sample' ? draft.sample : texts[shown]}
          fault={faultOf(tab)}
          onInput={(text) => (shown === 'sample' ? onChange({ sample: text }) : onTexts({ [shown]: text }))}
        />
        {shown !== 'html' && <p class="muted small">{shown === 'text' ? TEXT_ABOUT[kind] : ABOUT[shown]}</p>}
      </Tabs>
    </>
  )
}

/** The name of a template as the title of its page. */
export function NameField({ noun, name, onChange }: { noun: string; name: string; onChange: (name: string) => void }) {
  return (
    <div class="title-field">
      <Field name="name" label="Name">
        {(control) => (
          <input
            {...control}
            form="template"
            required
            maxLength={100}
            dir="auto"
            placeholder={`Name of the ${noun}`}
            value={name}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        )}
      </Field>
    </div>
  )
}

/** Alias, layout and language of a template in one line. Layouts and partials have no layout. */
export function TemplateBar({
  kind,
  isTest,
  draft,
  onChange,
  children,
}: {
  kind: TemplateKind
  isTest: boolean
  draft: Draft
  onChange: (part: Partial<Draft>) => void
  /** The choice of the language. */
  children: ComponentChildren
}) {
  return (
    <div class="row editor-bar">
      <AliasField kind={kind} alias={draft.alias} onChange={(alias) => onChange({ alias })} />
      {kind === 'message' && (
        <LayoutChoice value={draft.layout} isTest={isTest} onChange={(layout) => onChange({ layout })} />
      )}
      {children}
    </div>
  )
}

function AliasField(props: { kind: TemplateKind; alias: string; onChange: (alias: string) => void }) {
  const { kind, alias, onChange } = props
  return (
    <Field name="alias" label="Alias" hint={ALIAS_HINTS[kind]}>
      {(control) => (
        <input
          {...control}
          form="template"
          class="mono"
          title={ALIAS_HINTS[kind]}
          required={kind !== 'message'}
          placeholder={kind === 'message' ? 'welcome' : kind === 'layout' ? 'frame' : 'footer'}
          spellcheck={false}
          autoCapitalize="off"
          value={alias}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

const TABS = ['html', 'text', 'sample'] as const
const SOURCES = [
  ['html', 'HTML'],
  ['mjml', 'MJML'],
] as const
const LABELS = { html: 'HTML', mjml: 'MJML', text: 'Plain text', sample: 'Sample' }
const firstMjml = (kind: TemplateKind) => `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>${kind === 'layout' ? '{{ content }}' : 'Hello'}</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>`
const ALIAS_HINTS: Record<TemplateKind, string> = {
  message: 'Use it in API calls instead of the ID.',
  layout: 'Templates name the layout by it.',
  partial: 'Templates insert the partial by it.',
}
const TEXT_ABOUT: Record<TemplateKind, string> = {
  message: 'If empty, Postrider generates it from the HTML when it sends a message.',
  layout: 'If empty, plain text of templates has no layout.',
  partial: 'Used in plain text. If empty, plain text that inserts the partial is refused.',
}
const ABOUT = {
  mjml: 'Postrider compiles it to HTML when you save. A template has one source: saving HTML removes the MJML.',
  sample: 'A JSON object of values for the preview and the analysis, saved with the template. Messages never use it.',
}
