import { localeOf, MAX_LOCALES } from '../../../../../model/template.ts'
import { ApiError } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Field, Form } from '../../kit/form.tsx'
import { LOCALE } from '../../kit/format.ts'
import { Options } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'

/** Choice of the language that the editor shows ('' is the default), with buttons that add and remove one. `wrong` are
 *  languages with an error. */
export function LocaleField({
  locales,
  locale,
  wrong,
  onChoose,
  onAdd,
  onRemove,
}: {
  locales: readonly string[]
  locale: string
  wrong: readonly string[]
  onChoose: (locale: string) => void
  onAdd: () => void
  onRemove: () => void
}) {
  const mayChange = may('templates_update')
  return (
    <Field name="" label="Locale" hint={fallbackOf(locale, locales)}>
      {(control) => (
        <div class="row locale">
          <select
            {...control}
            title={fallbackOf(locale, locales)}
            value={locale}
            onChange={(event) => onChoose(event.currentTarget.value)}
          >
            <Options
              of={['', ...locales].map((each) => [each, `${nameOf(each)}${wrong.includes(each) ? ' (error)' : ''}`])}
              chosen={locale}
            />
          </select>
          {mayChange && (
            <button type="button" disabled={locales.length >= MAX_LOCALES} onClick={onAdd}>
              Add<span class="hidden"> locale</span>
            </button>
          )}
          {mayChange && locale !== '' && (
            <button type="button" class="danger" onClick={onRemove}>
              Remove<span class="hidden"> locale {locale}</span>
            </button>
          )}
        </div>
      )}
    </Field>
  )
}

/** Which messages get the texts in a language. */
function fallbackOf(locale: string, locales: readonly string[]): string {
  if (locales.length === 0) return 'Every message gets these texts. Add a locale for texts in another language.'
  if (locale === '') return 'Used when a message has no locale, or one you haven’t added.'
  if (locale.includes('-')) return `For messages with the locale ${locale}.`
  const others = locales.filter((each) => each.startsWith(`${locale}-`))
  const except = others.length === 0 ? '' : `, except ${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''}`
  return `For messages with the locale ${locale} or one of its regions${except}. Others get the default texts.`
}

/** Locale → its label, such as `pt-BR, Brazilian Portuguese`; `Default` for ''. */
function nameOf(locale: string): string {
  if (locale === '') return 'Default'
  const name = NAMES.of(locale)
  return name === undefined || name === locale ? locale : `${locale}, ${name}`
}

const NAMES = new Intl.DisplayNames(LOCALE, { type: 'language' })

/** Dialog that asks for a language. `onAdd` gets it in its usual case. */
export function AddLocale({
  locales,
  onAdd,
  onClose,
}: {
  locales: readonly string[]
  onAdd: (locale: string) => void
  onClose: () => void
}) {
  return (
    <Dialog name="Add a locale" onClose={onClose}>
      <Form
        action="Add locale"
        onCancel={onClose}
        onSubmit={async ({ locale: tag }) => {
          const locale = localeOf(String(tag).trim())
          if (locale === null) throw refusal('Enter a language tag such as de or pt-BR.')
          if (locales.includes(locale)) throw refusal(`This template already has ${locale}.`)
          onAdd(locale)
        }}
      >
        <Field
          name="locale"
          label="Language tag"
          hint="A language with an optional script and region. Begins with a copy of the texts that the editor shows."
        >
          {(control) => (
            <input {...control} required class="mono" placeholder="pt-BR" spellcheck={false} autoCapitalize="off" />
          )}
        </Field>
      </Form>
    </Dialog>
  )
}

const refusal = (message: string) => new ApiError(400, 'validation_error', message, { locale: message })
