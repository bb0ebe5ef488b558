import {
  Body,
  Button,
  Column,
  Container,
  Head,
  Heading,
  Hr,
  Html,
  Preview,
  Row,
  Tailwind,
  Text,
} from '@react-email/components'

interface ReceiptProps {
  name: string
  order: { id: string; url: string; total: string }
  lines: { title: string; price: string; note?: string }[]
  isGift: boolean
}

export const subject = ({ order }: ReceiptProps) => `Your order ${order.id}`

export default function Receipt({ name, order, lines, isGift }: ReceiptProps) {
  return (
    <Html lang="en">
      <Head />
      <Preview>Thanks, {name}! We have your order.</Preview>
      <Tailwind>
        <Body className="bg-gray-100 font-sans">
          <Container className="bg-white p-6">
            <Heading>Thanks, {name}!</Heading>
            {lines.map((line) => (
              <Row key={line.title}>
                <Column>
                  {line.title}
                  {line.note && <em> ({line.note})</em>}
                </Column>
                <Column align="right">{line.price}</Column>
              </Row>
            ))}
            <Hr />
            <Text>Total: {order.total}</Text>
            {isGift ? <Text>We wrap it as a gift.</Text> : <Text>The invoice is in the parcel.</Text>}
            <Button href={order.url}>Show the order</Button>
          </Container>
        </Body>
      </Tailwind>
    </Html>
  )
}

Receipt.PreviewProps = {
  name: 'Ann',
  order: { id: '1001', url: 'https://shop.example/orders/1001?from=mail&ref=a', total: '14.00 €' },
  lines: [
    { title: 'Tea', price: '5.00 €', note: 'organic' },
    { title: 'Cup', price: '9.00 €' },
  ],
  isGift: true,
} satisfies ReceiptProps
