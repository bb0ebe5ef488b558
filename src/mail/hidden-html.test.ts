import { describe, expect, test } from 'bun:test'
import { expectCostUnder } from '../../test/support/cpu-cost.ts'
import { textFromHtml } from './html-text.ts'

const around = (hidden: string) => textFromHtml(`<body>${hidden}<p>Hello</p></body>`)

describe('hidden preview text', () => {
  test.each([
    '<div style="display:none">Preview</div>',
    '<DIV STYLE="DISPLAY : NONE !important">Preview</DIV>',
    "<span class='preheader' style='color:transparent;display:none;height:0;mso-hide:all'>Preview</span>",
    '<div style="max-height:0;overflow:hidden">Preview</div>',
    '<div style="max-height:0px; mso-hide:all; font-size:1px">Preview</div>',
    '<span style="font-size:0;line-height:0">Preview</span>',
    '<div style="font-size:0px">Preview <b>and more</b></div>',
    '<div style="opacity:0">Preview</div>',
    '<td style="opacity:0.0">Preview</td>',
    '<p style="visibility:hidden">Preview</p>',
    '<div hidden>Preview</div>',
    '<div id=x hidden="">Preview</div>',
    '<div style="display:none"><div>Preview</div> and <span>more</span></div>',
    '<div style=display:none>Preview<a href="https://a.test">link</a><img alt="Preview" src=x></div>',
    '<table><tr><td style="display:none">Preview</td></tr></table>',
    '<img alt="Preview" style="display:none" src="x">',
    '<my-part style="display:none">Preview</my-part>',
    '<div style="display:none">Preview<style>.a{}</style>&zwnj;&nbsp;&zwnj;&nbsp;</div>',
    '<div style="display:&#110;one">Preview</div>',
    '<style>.preheader{color:transparent;display:none;height:0;max-height:0;opacity:0;overflow:hidden}</style><span class="preheader">Preview</span>',
    '<style type="text/css"><!-- @import url(x.css); span.Pre , #top{display:none!important} --></style><span class="a Pre">Preview</span>',
    '<style>/* .x{} */ @media (max-width:9px){.a{display:none}} #preview{max-height:0;overflow:hidden}</style><div id="preview">Preview</div>',
    '<style>.a{color:red}</style><style>.pre{visibility:hidden}</style><div style="color:red" class=pre>Preview</div>',
    '<style>/* a{} */ td.x,\n B.pre , #y { max-height:0; overflow:hidden }</style><b class="b pre">Preview</b>',
    '<style>@media print{.z{color:red}} .pre{visibility:hidden}</style><div class=pre style="color:red">Preview</div>',
    '<div style="height:0;width:0;overflow:hidden">Preview</div>',
    '<div style="height:1px;overflow:hidden;">Preview</div>',
    '<div style="max-height:0;overflow:hidden!important">Preview</div>',
    '<div style="position:absolute;left:-9999px">Preview</div>',
    '<div style="position:absolute;width:1px;clip:rect(0 0 0 0)">Preview</div>',
    '<div style="text-indent:-9999em">Preview</div>',
    '<div style="font-size:1px;line-height:1px;color:#ffffff">Preview</div>',
    '<div style="font:0/0 a">Preview</div>',
    '<div style="color:transparent">Preview</div>',
    '<div style="color:rgba(0, 0, 0, 0)">Preview</div>',
    '<div style="visibility:collapse">Preview</div>',
    '<div style="opacity:0%">Preview</div>',
    '<div style="transform:scale(0)">Preview</div>',
    '<div style="display:/**/none">Preview</div>',
    '<div style="display:none!important;display:block">Preview</div>',
    '<div style="display:none ! important">Preview</div>',
    '<!--[if mso]><p>Preview</p><![endif]-->',
    '<div style="font-size:0"><a style="color:#fff">Preview</a></div>',
    `<div>${'&#847;&zwnj;&nbsp;&#8199;&shy;&#65279;&#8203;'.repeat(50)}</div>`,
    `<div>${'&zwnj;&nbsp;'.repeat(50)}${'&#847; &#8203;'.repeat(50)}</div>`,
  ])('does not appear: %p', (hidden) => expect(around(hidden)).toBe('Hello'))
})

describe('text that a reader sees', () => {
  test.each([
    ['that a style sheet hides in other elements', '<style>td.a{display:none}</style><p class="a">Shown</p>'],
    [
      'that a style sheet hides inside others',
      '<style>.a .b,.a:hover,.a.c{display:none}</style><p class="a b">Shown</p>',
    ],
    ['that its own style shows', '<style>.a{display:none}</style><p class="a" style="display:block">Shown</p>'],
    ['that another rule shows', '<style>.a{display:none}.b{display:block}</style><p class="a b">Shown</p>'],
    ['in a box of no height that shows what overflows', '<div style="height:0">Shown</div>'],
    ['that only some screens hide', '<div class="hide-mobile">Shown</div>'],
    [
      'that a style sheet shows',
      '<style>@media (max-width:600px){.only{display:block!important;max-height:none}}</style><div class="a only" style="display:none;max-height:0">Shown</div>',
    ],
    [
      'with a font size inside a size of 0',
      '<td style="font-size:0px;padding:10px"><div style="font-size:13px">Shown</div></td>',
    ],
    ['with a class inside a size of 0', '<div style="font-size:0"><div class="column">Shown</div></div>'],
    [
      'that a rule hides on some screens',
      '<style>@media (max-width:600px){.hide{display:none!important}}</style><div class="hide">Shown</div>',
    ],
    [
      'that a rule hides and another shows on some screens',
      '<style>.only{display:none}@media (max-width:600px){td[class="only"]{display:block!important}}</style><td class="only">Shown</td>',
    ],
    ['that its own style shows', '<style>.a{display:none}</style><div class="a" style="display:block">Shown</div>'],
    [
      'of another class',
      '<style>.a .b, .c:hover{display:none}</style><div class="a">Shown</div><p class="c b">Shown</p>',
    ],
    [
      'behind a sheet that never closes its rule',
      '<style>.a{display:none;@media{.b{color:red}</style><div class="b">Shown</div>',
    ],
    ['in a font after a size of 0', '<div style="font-size:0"><span style="font:12px Arial">Shown</span></div>'],
    ['of a picture in a cell without letters', '<td style="font-size:0;line-height:0"><img alt="Shown" src="x"></td>'],
    ['with a colour inside a transparent one', '<div style="color:transparent"><b style="color:red">Shown</b></div>'],
    [
      'filled by a gradient',
      '<b style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">Shown</b>',
    ],
    ['that fades in', '<style>.in{opacity:0;animation:in 1s forwards}</style><div class="in">Shown</div>'],
    ['that a picture replaces', '<h1 style="text-indent:-9999px;background:url(x.png)">Shown</h1>'],
    ['that its column shortens', '<td style="max-width:0;overflow:hidden;text-overflow:ellipsis">Shown</td>'],
    ['with a half-transparent colour', '<div style="color:rgba(0,0,0,0.5)">Shown</div>'],
    ['with a size in percent', '<div style="font-size:100%;font:100% Arial">Shown</div>'],
    ['with a small offset', '<div style="position:absolute;left:-10px;text-indent:-20px">Shown</div>'],
    ['in a box of one line', '<div style="height:18px;overflow:hidden;width:100%">Shown</div>'],
    ['with an important display', '<div style="display:block!important;display:none">Shown</div>'],
    ['that only Outlook hides', '<div style="mso-hide:all">Shown</div>'],
    ['with another opacity', '<div style="opacity:0.05">Shown</div>'],
    ['in a box that does not cut', '<div style="max-height:0">Shown</div>'],
    ['in a box with a height', '<div style="max-height:200px;overflow:hidden">Shown</div>'],
    ['behind a word in another attribute', '<div title="display:none hidden" data-hidden="a">Shown</div>'],
    ['behind a hidden image', '<img style="display:none" src="x" alt=""><div>Shown</div>'],
    ['behind a hidden line break', '<br style="display:none">Shown<br>'],
    ['behind a hidden paragraph without end', '<p style="display:none">Preview<div>Shown</div>'],
    [
      'behind a hidden element that its cell ends',
      '<table><tr><td><div style="display:none">Preview</td><td>Shown</td></tr></table>',
    ],
    [
      'behind nested hidden elements',
      '<div style="display:none"><div style="display:none">P</div><div>P</div></div>Shown',
    ],
  ])('stays: text %s', (_, shown) => expect(around(shown)).toContain('Shown'))

  test('costs linear time also where much is hidden', async () => {
    const pieces = [
      '<div style="display:none">',
      '<p style="opacity:0" class="a">',
      '<style>.a{',
      '<style',
      '<b hidden ',
      '<td style="font-size:0;',
      '<i style="max-height:0000',
      '<style>.a{display:none}</style><i class="a">',
      '<style>.a{display:none;}/*',
      '<style>@media{',
      '<style>{{}{}',
      '<style>.a[class=b',
      '<i style="/*/*',
      '<i style="color:rgba(,,,,',
      '<i style="font:a a a a ',
    ]
    for (const piece of pieces) {
      const html = piece.repeat(Math.floor(524_288 / piece.length))
      await expectCostUnder(2_000, () => textFromHtml(html), 1)
    }
  })
})
