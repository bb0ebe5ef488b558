import { z } from 'zod'
import { TEMPLATE_KINDS } from '../../../model/template.ts'
import type { ResponseShape } from '../operation.ts'
import { deletedShape, EXAMPLE_TIME, exampleId, id, mode, pageShape, time } from './fields.ts'

/** Responses of `/v1/templates`; routes/templates.ts builds the records. */

const text = z.string().nullable()
const version = z.int().min(1).describe('Increases by one when the content changes.')
const variables = z.array(z.string()).describe('Variables found in the template, in order of first use.')
const parts = {
  layout: text.describe('Alias of the layout around `html` and `text`.'),
  locales: z
    .record(z.string(), z.strictObject({ subject: text, html: text, mjml: text, text, variables }))
    .describe('Texts in other languages, by locale such as `de` or `pt-BR`.'),
}
const texts = {
  subject: text.describe('Null = each message provides its own subject.'),
  html: text,
  mjml: text.describe('MJML that `html` was compiled from; null if there is none.'),
  text,
}
const head = {
  id: id('tpl'),
  alias: text.describe('Alternative to the ID. Live and test templates have separate aliases.'),
  name: z.string(),
  mode: mode.describe(
    '`test`: created by a test key, for test messages only. Test messages can also use live templates.',
  ),
  kind: z.enum(TEMPLATE_KINDS).describe('Messages use templates of kind `message`; these use layouts and partials.'),
}
const sample = z.record(z.string(), z.unknown()).describe('Values of variables for previews.')
const times = { created_at: time, updated_at: time }

const template = z
  .strictObject({ ...head, ...texts, ...parts, variables, sample, version, ...times })
  .meta({ id: 'Template' })
const listed = z
  .strictObject({ ...head, subject: texts.subject, variables, version, ...times })
  .meta({ id: 'ListedTemplate' })
const listedVersion = z
  .strictObject({ version, subject: texts.subject, variables, created_at: time })
  .meta({ id: 'ListedTemplateVersion' })

const textsExample = { subject: 'Hello {{ name }}', html: '<p>Hello {{ name }}</p>', mjml: null, text: null }
const { subject } = textsExample
const headExample = { id: exampleId('tpl'), alias: 'welcome', name: 'Welcome', mode: 'live', kind: 'message' }
const restExample = { variables: ['name'], version: 1, created_at: EXAMPLE_TIME, updated_at: EXAMPLE_TIME }
const partsExample = { layout: null, locales: {} }
const example = { ...headExample, ...textsExample, ...partsExample, sample: { name: 'Ann' }, ...restExample }

export const templateResponses: ResponseShape[] = [
  { status: 200, description: 'The template.', schema: template, example },
]
export const templateCreatedResponses: ResponseShape[] = [
  { status: 201, description: 'The template with version 1.', schema: template, example },
]
export const templateListResponses = [
  pageShape(
    listed,
    { ...headExample, subject, ...restExample },
    'Templates without html, text and sample, newest first.',
  ),
]
export const templateDeletedResponses = [deletedShape('tpl', 'The template and all its versions are deleted.')]
export const templateRenderedResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The rendered message.',
    schema: z.strictObject({ subject: text, html: text, text }).meta({ id: 'RenderedTemplate' }),
    example: { subject: 'Hello Ann', html: '<p>Hello Ann</p>', text: null },
  },
]
export const templatePreviewResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'The rendered message.',
    schema: z
      .strictObject({
        subject: text,
        html: text,
        text,
        variables,
        missing: z.array(z.string()).describe('Variables without a value or a default. They are rendered as `[name]`.'),
      })
      .meta({ id: 'TemplatePreview' }),
    example: { subject: 'Hello Ann', html: '<p>Hello Ann</p>', text: null, variables: ['name'], missing: [] },
  },
]
export const templateVersionsResponses = [
  pageShape(
    listedVersion,
    { version: 1, subject, variables: ['name'], created_at: EXAMPLE_TIME },
    'Versions without html and text, newest first.',
  ),
]
