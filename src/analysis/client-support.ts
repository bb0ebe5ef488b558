import { DROPPED_BY } from './client-data.ts'

/** CSS and HTML that common mail clients do not show. The lists of clients come from caniemail.com, except for canvas and
 *  MathML, which it does not test. */
export interface ClientFeature {
  /** As a reader of the finding knows it. */
  feature: string
  droppedBy: readonly string[]
  severity: 'warning' | 'info'
  penalty: number
  advice: string
  uses: FeatureUse
}

/** How a feature shows in a page; each property is one more way, each value a test. */
export interface FeatureUse {
  /** CSS property → its values that count. */
  property?: Readonly<Record<string, RegExp>>
  /** Values of any property that count. */
  value?: RegExp
  /** Properties that count by their name. */
  propertyName?: RegExp
  atRules?: readonly string[]
  selector?: RegExp
  tags?: readonly string[]
  /** Address of an image. */
  image?: RegExp
  styleInBody?: true
  externalStyleSheet?: true
}

const ANY = /./

export const CLIENT_FEATURES = {
  css_flexbox: {
    feature: 'CSS flexbox',
    droppedBy: DROPPED_BY.css_flexbox,
    severity: 'warning',
    penalty: 2,
    advice: 'Lay columns out with tables.',
    uses: { property: { display: /^(?:inline-)?flex\b/i } },
  },
  css_grid: {
    feature: 'CSS grid',
    droppedBy: DROPPED_BY.css_grid,
    severity: 'warning',
    penalty: 2,
    advice: 'Lay columns out with tables.',
    uses: { property: { display: /^(?:inline-)?grid\b/i } },
  },
  css_position: {
    feature: 'CSS position',
    droppedBy: DROPPED_BY.css_position,
    severity: 'warning',
    penalty: 2,
    advice: 'Place things with table cells and padding.',
    uses: { property: { position: /^(?:absolute|fixed|sticky|relative)\b/i } },
  },
  css_float: {
    feature: 'CSS float',
    droppedBy: DROPPED_BY.css_float,
    severity: 'info',
    penalty: 0,
    advice: 'Use the align attribute or table cells.',
    uses: { property: { float: /^(?:left|right)\b/i } },
  },
  css_background_image: {
    feature: 'CSS background image',
    droppedBy: DROPPED_BY.css_background_image,
    severity: 'info',
    penalty: 1,
    advice: 'Set a background colour as well, on which the text can be read.',
    uses: { property: { 'background-image': /url\(/i, background: /url\(/i } },
  },
  css_gradient: {
    feature: 'CSS gradients',
    droppedBy: DROPPED_BY.css_gradient,
    severity: 'info',
    penalty: 0,
    advice: 'Set a background colour as well.',
    uses: { value: /-gradient\(/i },
  },
  css_external_stylesheet: {
    feature: 'an external style sheet',
    droppedBy: DROPPED_BY.css_external_stylesheet,
    severity: 'warning',
    penalty: 5,
    advice: 'Write the styles into the elements or into a <style> in the head.',
    uses: { externalStyleSheet: true },
  },
  css_import: {
    feature: 'CSS @import',
    droppedBy: DROPPED_BY.css_import,
    severity: 'warning',
    penalty: 3,
    advice: 'Write the styles into the mail itself.',
    uses: { atRules: ['import'] },
  },
  css_style_in_body: {
    feature: 'a <style> outside the head',
    droppedBy: DROPPED_BY.css_style_in_body,
    severity: 'warning',
    penalty: 2,
    advice: 'Move it into the head, and what matters into style attributes.',
    uses: { styleInBody: true },
  },
  css_variables: {
    feature: 'CSS variables',
    droppedBy: DROPPED_BY.css_variables,
    severity: 'warning',
    penalty: 3,
    advice: 'Write the values out.',
    uses: { propertyName: /^--/, value: /\bvar\(/i },
  },
  css_web_font: {
    feature: 'web fonts',
    droppedBy: DROPPED_BY.css_web_font,
    severity: 'info',
    penalty: 0,
    advice: 'Name a common font behind yours.',
    uses: { atRules: ['font-face'] },
  },
  css_media_query: {
    feature: 'media queries',
    droppedBy: DROPPED_BY.css_media_query,
    severity: 'info',
    penalty: 0,
    advice: 'See that the mail can be read without them.',
    uses: { atRules: ['media'] },
  },
  css_supports: {
    feature: 'CSS @supports',
    droppedBy: DROPPED_BY.css_supports,
    severity: 'info',
    penalty: 0,
    advice: 'See that the mail can be read without it.',
    uses: { atRules: ['supports'] },
  },
  css_animation: {
    feature: 'CSS animations and transitions',
    droppedBy: DROPPED_BY.css_animation,
    severity: 'info',
    penalty: 1,
    advice: 'See that the first and the last picture make sense.',
    uses: { propertyName: /^(?:-webkit-)?(?:animation|transition)\b/, atRules: ['keyframes', '-webkit-keyframes'] },
  },
  css_transform: {
    feature: 'CSS transform',
    droppedBy: DROPPED_BY.css_transform,
    severity: 'info',
    penalty: 1,
    advice: 'Do without it.',
    uses: { property: { transform: ANY, '-webkit-transform': ANY } },
  },
  css_filter: {
    feature: 'CSS filters, clipping and blending',
    droppedBy: DROPPED_BY.css_filter,
    severity: 'info',
    penalty: 1,
    advice: 'Do it in the image.',
    uses: { property: { filter: ANY, 'backdrop-filter': ANY, 'clip-path': ANY, 'mix-blend-mode': ANY } },
  },
  css_shadow: {
    feature: 'CSS shadows',
    droppedBy: DROPPED_BY.css_shadow,
    severity: 'info',
    penalty: 0,
    advice: 'Nothing is lost but the shadow.',
    uses: { property: { 'box-shadow': ANY, 'text-shadow': ANY } },
  },
  css_border_radius: {
    feature: 'CSS round corners',
    droppedBy: DROPPED_BY.css_border_radius,
    severity: 'info',
    penalty: 0,
    advice: 'Corners are square there.',
    uses: { propertyName: /^border-(?:[a-z]+-[a-z]+-)?radius$/ },
  },
  css_max_width: {
    feature: 'CSS max-width',
    droppedBy: DROPPED_BY.css_max_width,
    severity: 'info',
    penalty: 0,
    advice: 'Put a table of fixed width around it, in a comment for Outlook.',
    uses: { property: { 'max-width': ANY } },
  },
  css_object_fit: {
    feature: 'CSS object-fit',
    droppedBy: DROPPED_BY.css_object_fit,
    severity: 'info',
    penalty: 1,
    advice: 'Cut the image to its size.',
    uses: { property: { 'object-fit': ANY, 'object-position': ANY } },
  },
  css_functions: {
    feature: 'CSS calc(), min(), max() and clamp()',
    droppedBy: DROPPED_BY.css_functions,
    severity: 'info',
    penalty: 1,
    advice: 'Write the value out in front of it.',
    uses: { value: /(?:^|[\s(,])(?:calc|min|max|clamp)\(/i },
  },
  css_viewport_units: {
    feature: 'CSS units of the window (vw, vh)',
    droppedBy: DROPPED_BY.css_viewport_units,
    severity: 'info',
    penalty: 1,
    advice: 'Use percent or pixels.',
    uses: { value: /(?:^|[\s(,-])(?:\d+(?:\.\d+)?|\.\d+)[dsl]?v(?:w|h|min|max)\b/i },
  },
  css_modern_colour: {
    feature: 'newer CSS colours (oklch, lab, color-mix)',
    droppedBy: DROPPED_BY.css_modern_colour,
    severity: 'info',
    penalty: 1,
    advice: 'Write the colour as #rrggbb.',
    uses: { value: /\b(?:oklch|oklab|lch|lab|hwb|color-mix|light-dark)\(/i },
  },
  css_pseudo_element: {
    feature: 'CSS ::before and ::after',
    droppedBy: DROPPED_BY.css_pseudo_element,
    severity: 'info',
    penalty: 1,
    advice: 'Write what they add into the HTML.',
    uses: { selector: /::?(?:before|after)\b/i },
  },
  css_attribute_selector: {
    feature: 'CSS attribute selectors',
    droppedBy: DROPPED_BY.css_attribute_selector,
    severity: 'info',
    penalty: 0,
    advice: 'Give the elements a class.',
    uses: { selector: /\[[a-z-]{1,40}(?:[~|^$*]?=|\])/i },
  },
  css_gap: {
    feature: 'CSS gap',
    droppedBy: DROPPED_BY.css_gap,
    severity: 'info',
    penalty: 0,
    advice: 'Use padding.',
    uses: { property: { gap: ANY, 'column-gap': ANY, 'row-gap': ANY } },
  },
  html_video: {
    feature: 'video',
    droppedBy: DROPPED_BY.html_video,
    severity: 'warning',
    penalty: 2,
    advice: 'Show an image that links to the video.',
    uses: { tags: ['video'] },
  },
  html_audio: {
    feature: 'audio',
    droppedBy: DROPPED_BY.html_audio,
    severity: 'warning',
    penalty: 2,
    advice: 'Link to it.',
    uses: { tags: ['audio'] },
  },
  html_svg: {
    feature: 'SVG in the HTML',
    droppedBy: DROPPED_BY.html_svg,
    severity: 'warning',
    penalty: 3,
    advice: 'Use a PNG.',
    uses: { tags: ['svg'] },
  },
  html_svg_image: {
    feature: 'SVG images',
    droppedBy: DROPPED_BY.html_svg_image,
    severity: 'warning',
    penalty: 2,
    advice: 'Use a PNG.',
    uses: { image: /^[^?#]{1,2000}\.svgz?(?:[?#]|$)|^data:image\/svg/i },
  },
  html_modern_image: {
    feature: 'WebP and AVIF images',
    droppedBy: DROPPED_BY.html_modern_image,
    severity: 'info',
    penalty: 1,
    advice: 'Use PNG, JPEG or GIF.',
    uses: { image: /^[^?#]{1,2000}\.(?:webp|avif)(?:[?#]|$)/i },
  },
  html_picture: {
    feature: '<picture>',
    droppedBy: DROPPED_BY.html_picture,
    severity: 'info',
    penalty: 0,
    advice: 'The <img> in it is shown; see that it is the right one.',
    uses: { tags: ['picture'] },
  },
  html_canvas: {
    feature: '<canvas>',
    droppedBy: ['Gmail', 'Outlook for Windows', 'Outlook.com', 'Yahoo Mail', 'Apple Mail'],
    severity: 'warning',
    penalty: 3,
    advice: 'Use an image.',
    uses: { tags: ['canvas'] },
  },
  html_button: {
    feature: '<button>',
    droppedBy: DROPPED_BY.html_button,
    severity: 'info',
    penalty: 1,
    advice: 'Use a link in a coloured table cell.',
    uses: { tags: ['button'] },
  },
  html_details: {
    feature: '<details> and <dialog>',
    droppedBy: DROPPED_BY.html_details,
    severity: 'info',
    penalty: 1,
    advice: 'What is in them is shown at once or not at all; write it out.',
    uses: { tags: ['details', 'dialog'] },
  },
  html_math: {
    feature: 'MathML',
    droppedBy: ['Gmail', 'Outlook for Windows', 'Outlook.com', 'Yahoo Mail'],
    severity: 'warning',
    penalty: 2,
    advice: 'Use an image with an alternative text.',
    uses: { tags: ['math'] },
  },
} satisfies Record<string, ClientFeature>
