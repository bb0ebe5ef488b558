import { expect, test } from 'bun:test'
import { expectCostUnder } from '../../test/support/cpu-cost.ts'
import { foreignUnsubscribe, foreignUnsubscribeInHtml } from './foreign-unsubscribe.ts'

test.each([
  '{{{RESEND_UNSUBSCRIBE_URL}}}',
  '{{{ RESEND_UNSUBSCRIBE_URL }}}',
  '{{{ pm:unsubscribe }}}',
  '{{{pm:unsubscribe_url}}}',
  '{{ pm:unsubscribe }}',
  '{{amazonSESUnsubscribeUrl}}',
  '<%asm_group_unsubscribe_raw_url%>',
  '<%asm_group_unsubscribe_url%>',
  '<%asm_global_unsubscribe_raw_url%>',
  '<%asm_preferences_raw_url%>',
  '&lt;%asm_global_unsubscribe_url%&gt;',
  '%tag_unsubscribe_url%',
  '%mailing_list_unsubscribe_url%',
  '%unsubscribe_email%',
  '*|UNSUB|*',
  '*|UNSUB:https://shop.example/gone|*',
  '*|UPDATE_PROFILE|*',
  '[[UNSUB_LINK_EN]]',
  '[[UNSUB_LINK_LOCALE]]',
])('%j is a placeholder in text and in HTML', (placeholder) => {
  expect(placeholder).toContain(foreignUnsubscribe(`Stop: ${placeholder}.`)!)
  expect(foreignUnsubscribeInHtml(`<a href="${placeholder}">Stop</a>`)).not.toBeNull()
  expect(foreignUnsubscribeInHtml(`<a href='${encodeURI(placeholder)}'>Stop</a>`)).not.toBeNull()
})

test.each([
  '<a href="{{ unsubscribe }}">', // Brevo
  '<a href="{{{unsubscribe}}}">', // SendGrid
  '<a href="{{{unsubscribe_preferences}}}">',
  '<a href="{{ unsubscribe_link }}">', // HubSpot, ActiveCampaign
  '<a href="{% unsubscribe_url %}">', // Klaviyo, Customer.io
  '<a HREF = {{unsubscribeUrl}}>',
  `<a href="{{\${set_user_to_unsubscribed_url}}}">`, // Braze
  '<a href="https://shop.example/{{unsubscribe_path}}">',
  '<a href="%UNSUBSCRIBELINK%">',
  '<a href="[UNSUBSCRIBE]">', // Brevo
  '<a href="[unsubscribe]">',
  '<a href="{unsubscribe}">', // Elastic Email
  '<a href="<%= unsubscribe_url %>">',
  '<a href="%7B%7B%20unsubscribe_link%20%7D%7D">',
  '<a href="&#123;&#123;opt_out_url}}">',
])('%j is a dead link', (html) => {
  expect(foreignUnsubscribeInHtml(html)).not.toBeNull()
})

test.each([
  '<a href="%unsubscribe_url%">',
  '<a href="%25UNSUBSCRIBE_URL%25">Unsubscribe</a>',
  '<a href="https://shop.example/unsubscribe?list=%7Ball%7D&a=50%25">[Unsubscribe]</a>',
  '<a href="https://shop.example/?filter[unsubscribed]=1">',
  '<a href="https://shop.example/{id}/unsubscribe">',
  '<a href="https://shop.example/#/opt-out">',
  '<p>[Unsubscribe] {unsubscribe} {{ unsubscribe }}</p>',
  '<a href="{{ order_url }}">unsubscribe</a>',
  '<link href="{{ unsubscribe_url }}">',
  '<pre>&lt;a href=&quot;{{unsubscribe_url}}&quot;&gt; or href="{{unsubscribe_url}}"</pre>',
  'Unsubscribe [https://shop.example/unsubscribe]',
])('%j is none', (html) => {
  expect(foreignUnsubscribeInHtml(html)).toBeNull()
})

test('a link is found behind the words of a long mail', () => {
  const words = '<p>Some words of a letter, with <b>tags</b> and an <a href="https://shop.example/">address</a>.</p>'
  expect(foreignUnsubscribeInHtml(`${words.repeat(5_000)}<a style="a:b" href="{{ unsubscribe }}">`)).not.toBeNull()
})

test('megabytes of any HTML hold the main thread for milliseconds', async () => {
  const pieces = [
    'href="',
    "href='",
    'href=',
    'href  =',
    '{{unsub',
    '*|UNSUB:',
    '%unsub',
    '<%',
    '[[unsub',
    '{{${',
    'opt_out',
    '<a href=',
    '<a href=x>',
    '<a href="{{a}}">',
    '<a href=unsub>',
    `${'<a {{'.repeat(300)}unsub`,
    '{{ ',
  ]
  for (const piece of pieces) {
    const html = `unsub ${piece.repeat(Math.floor(5_000_000 / piece.length))}`
    await expectCostUnder(50, () => foreignUnsubscribeInHtml(html))
  }
})
