import { DROPPED_BY } from './client-data.ts'

/** CSS and HTML that common mail clients do not show. The lists of clients come from caniemail.com, except for canvas and
 *  MathML, which it does not test. */
export interface ClientFeature {
  /** Name of the feature in the finding. */
  feature: string
  droppedBy: readonly string[]
  severity: 'warning' | 'info'
  penalty: number
  advice: string
  uses: FeatureUse
}

/** How a feature appears in a page; each property is one more way, each value a test. */
export interface FeatureUse {
  /** CSS property → its relevant values. */
  property?: Readonly<Record<string, RegExp>>
  /** Relevant values of any property. */
  value?: RegExp
  /** Properties that are relevant by name. */
  propertyName?: RegExp
  atRules?: readonly string[]
  selector?: RegExp
  tags?: readonly string[]
  /** Image URL. */
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
    advice: 'Use tables for columns.',
    uses: { property: { display: /^(?:inline-)?flex\b/i } },
  },
  css_grid: {
    feature: 'CSS grid',
    droppedBy: DROPPED_BY.css_grid,
    severity: 'warning',
    penalty: 2,
    advice: 'Use tables for columns.',
    uses: { property: { display: /^(?:inline-)?grid\b/i } },
  },
  css_position: {
    feature: 'CSS position',
    droppedBy: DROPPED_BY.css_position,
    severity: 'warning',
    penalty: 2,
    advice: 'Use table cells and padding for layout.',
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
    advice: 'Also set a background colour that keeps the text readable.',
    uses: { property: { 'background-image': /url\(/i, background: /url\(/i } },
  },
  css_gradient: {
    feature: 'CSS gradients',
    droppedBy: DROPPED_BY.css_gradient,
    severity: 'info',
    penalty: 0,
    advice: 'Also set a background colour.',
    uses: { value: /-gradient\(/i },
  },
  css_external_stylesheet: {
    feature: 'an external style sheet',
    droppedBy: DROPPED_BY.css_external_stylesheet,
    severity: 'warning',
    penalty: 5,
    advice: 'Use style attributes or a <style> in the head.',
    uses: { externalStyleSheet: true },
  },
  css_import: {
    feature: 'CSS @import',
    droppedBy: DROPPED_BY.css_import,
    severity: 'warning',
    penalty: 3,
    advice: 'Put the styles into the message itself.',
    uses: { atRules: ['import'] },
  },
  css_style_in_body: {
    feature: 'a <style> outside the head',
    droppedBy: DROPPED_BY.css_style_in_body,
    severity: 'warning',
    penalty: 2,
    advice: 'Move it into the head, and use style attributes for the important rules.',
    uses: { styleInBody: true },
  },
  css_variables: {
    feature: 'CSS variables',
    droppedBy: DROPPED_BY.css_variables,
    severity: 'warning',
    penalty: 3,
    advice: 'Write the values directly.',
    uses: { propertyName: /^--/, value: /\bvar\(/i },
  },
  css_web_font: {
    feature: 'web fonts',
    droppedBy: DROPPED_BY.css_web_font,
    severity: 'info',
    penalty: 0,
    advice: 'List a common fallback font.',
    uses: { atRules: ['font-face'] },
  },
  css_media_query: {
    feature: 'media queries',
    droppedBy: DROPPED_BY.css_media_query,
    severity: 'info',
    penalty: 0,
    advice: 'Make sure the message is readable without them.',
    uses: { atRules: ['media'] },
  },
  css_supports: {
    feature: 'CSS @supports',
    droppedBy: DROPPED_BY.css_supports,
    severity: 'info',
    penalty: 0,
    advice: 'Make sure the message is readable without it.',
    uses: { atRules: ['supports'] },
  },
  css_animation: {
    feature: 'CSS animations and transitions',
    droppedBy: DROPPED_BY.css_animation,
    severity: 'info',
    penalty: 1,
    advice: 'Make sure the first and last frame make sense.',
    uses: { propertyName: /^(?:-webkit-)?(?:animation|transition)\b/, atRules: ['keyframes', '-webkit-keyframes'] },
  },
  css_transform: {
    feature: 'CSS transform',
    droppedBy: DROPPED_BY.css_transform,
    severity: 'info',
    penalty: 1,
    advice: 'Avoid it.',
    uses: { property: { transform: ANY, '-webkit-transform': ANY } },
  },
  css_filter: {
    feature: 'CSS filters, clipping and blending',
    droppedBy: DROPPED_BY.css_filter,
    severity: 'info',
    penalty: 1,
    advice: 'Edit the image instead.',
    uses: { property: { filter: ANY, 'backdrop-filter': ANY, 'clip-path': ANY, 'mix-blend-mode': ANY } },
  },
  css_shadow: {
    feature: 'CSS shadows',
    droppedBy: DROPPED_BY.css_shadow,
    severity: 'info',
    penalty: 0,
    advice: 'Only the shadow is missing.',
    uses: { property: { 'box-shadow': ANY, 'text-shadow': ANY } },
  },
  css_border_radius: {
    feature: 'rounded CSS corners',
    droppedBy: DROPPED_BY.css_border_radius,
    severity: 'info',
    penalty: 0,
    advice: 'Corners appear square.',
    uses: { propertyName: /^border-(?:[a-z]+-[a-z]+-)?radius$/ },
  },
  css_max_width: {
    feature: 'CSS max-width',
    droppedBy: DROPPED_BY.css_max_width,
    severity: 'info',
    penalty: 0,
    advice: 'Add a fixed-width table for Outlook in a conditional comment.',
    uses: { property: { 'max-width': ANY } },
  },
  css_object_fit: {
    feature: 'CSS object-fit',
    droppedBy: DROPPED_BY.css_object_fit,
    severity: 'info',
    penalty: 1,
    advice: 'Crop the image to the displayed size.',
    uses: { property: { 'object-fit': ANY, 'object-position': ANY } },
  },
  css_functions: {
    feature: 'CSS calc(), min(), max() and clamp()',
    droppedBy: DROPPED_BY.css_functions,
    severity: 'info',
    penalty: 1,
    advice: 'Add a fixed value before it as a fallback.',
    uses: { value: /(?:^|[\s(,])(?:calc|min|max|clamp)\(/i },
  },
  css_viewport_units: {
    feature: 'CSS viewport units (vw, vh)',
    droppedBy: DROPPED_BY.css_viewport_units,
    severity: 'info',
    penalty: 1,
    advice: 'Use percentages or pixels.',
    uses: { value: /(?:^|[\s(,-])(?:\d+(?:\.\d+)?|\.\d+)[dsl]?v(?:w|h|min|max)\b/i },
  },
  css_modern_colour: {
    feature: 'newer CSS colours (oklch, lab, color-mix)',
    droppedBy: DROPPED_BY.css_modern_colour,
    severity: 'info',
    penalty: 1,
    advice: 'Write colours as #rrggbb.',
    uses: { value: /\b(?:oklch|oklab|lch|lab|hwb|color-mix|light-dark)\(/i },
  },
  css_pseudo_element: {
    feature: 'CSS ::before and ::after',
    droppedBy: DROPPED_BY.css_pseudo_element,
    severity: 'info',
    penalty: 1,
    advice: 'Put the content into the HTML.',
    uses: { selector: /::?(?:before|after)\b/i },
  },
  css_attribute_selector: {
    feature: 'CSS attribute selectors',
    droppedBy: DROPPED_BY.css_attribute_selector,
    severity: 'info',
    penalty: 0,
    advice: 'Add a class to the elements instead.',
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
    advice: 'Use an image that links to the video.',
    uses: { tags: ['video'] },
  },
  html_audio: {
    feature: 'audio',
    droppedBy: DROPPED_BY.html_audio,
    severity: 'warning',
    penalty: 2,
    advice: 'Link to the audio file.',
    uses: { tags: ['audio'] },
  },
  html_svg: {
    feature: 'inline SVG',
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
    advice: 'Clients show the <img> inside. Make sure it is the right one.',
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
    advice: 'Clients show the content unfolded or not at all. Use plain elements.',
    uses: { tags: ['details', 'dialog'] },
  },
  html_math: {
    feature: 'MathML',
    droppedBy: ['Gmail', 'Outlook for Windows', 'Outlook.com', 'Yahoo Mail'],
    severity: 'warning',
    penalty: 2,
    advice: 'Use an image with alternative text.',
    uses: { tags: ['math'] },
  },
} satisfies Record<string, ClientFeature>
