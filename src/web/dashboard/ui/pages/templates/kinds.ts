import type { TemplateKind } from '../../../../../model/template.ts'

/** What the pages say about each kind of template. */
export const KINDS: Record<TemplateKind, { noun: string; plural: string; about: string; whenEmpty: string }> = {
  message: {
    noun: 'template',
    plural: 'Templates',
    about: 'Reusable emails with variables. Send one by its alias.',
    whenEmpty: 'Write one with a live preview, then send with `template_id` instead of `html`.',
  },
  layout: {
    noun: 'layout',
    plural: 'Layouts',
    about: 'Frames around the body of templates, with `{{\u00a0content\u00a0}}` once.',
    whenEmpty: 'Write header and footer once. Each template chooses its layout.',
  },
  partial: {
    noun: 'partial',
    plural: 'Partials',
    about: 'Parts that templates insert with `{%\u00a0render\u00a0"alias"\u00a0%}`.',
    whenEmpty: 'Write a part once, such as a signature, and insert it into any template.',
  },
}

/** Text of the URL → kind; `message` for an unknown one. */
export function kindOf(text: string | undefined): TemplateKind {
  return text === 'layout' || text === 'partial' ? text : 'message'
}

/** The inverse of kindOf: '' for `message`. */
export const kindText = (kind: TemplateKind): string => (kind === 'message' ? '' : kind)

/** What a new template begins with. */
export const STARTS: Record<TemplateKind, { html?: string; text?: string }> = {
  message: {},
  layout: { html: '<main>\n  {{ content }}\n</main>\n', text: '{{ content }}\n' },
  partial: {},
}
