import fastify from 'fastify'
import { expect, it } from 'vitest'
import { testLog } from '#testing/platform/log'
import { registerPaymentPages } from './payment-page.ts'

it('draws each code of an answer once, however often it is asked for', async () => {
  const server = fastify()
  const methodOn = (chain: string) => ({ chain, address: `0x${chain}`, paymentUri: `ethereum:${chain}` })
  const answerOnce = () => ({ paymentMethods: [methodOn('ETH'), methodOn('BASE')] }) as never
  const drawn: string[] = []
  const draw = (text: string) => `<svg>${drawn.push(text)}</svg>`
  let answer = answerOnce()
  registerPaymentPages(server, { read: async () => answer, log: testLog(), draw })
  const code = async (query: string) => (await server.inject(`/pay/token/code.svg${query}`)).body
  expect(await code('?chain=ETH')).toBe('<svg>1</svg>')
  expect(await code('?chain=ETH')).toBe('<svg>1</svg>')
  for (const query of ['?chain=ETH&of=payment', '?chain=BASE', '?chain=BASE', '?chain=unknown'])
    await code(query)
  expect(drawn).toEqual(['0xETH', 'ethereum:ETH', '0xBASE'])
  answer = answerOnce()
  expect(await code('?chain=ETH')).toBe('<svg>4</svg>')
  await server.close()
})
