import { describe, expect, it } from 'vitest'
import { ApiError } from '#lib/errors'
import { checkAmount } from './check-amount.ts'
import { readPayoutFile } from './read-file.ts'

const read = async (text: string) => (await readPayoutFile(text)).rows
const problemOf = async (text: string): Promise<string> => {
  const error = await readPayoutFile(text).catch((refusal: ApiError) => refusal)
  if (!(error instanceof ApiError)) throw new Error('the file was read')
  expect(error.code).toBe(178111)
  return error.fields[0]!.message
}
const cells = { recipient: '', address: '0xaa', chain: 'BASE', amount: '1.5', currency: 'USD', reference: '' }

describe('property 257: a file of payouts', () => {
  it('is read however a spreadsheet wrote it', async () => {
    const rows = [{ number: 2, cells }]
    expect(await read('address,chain,amount,currency\n0xaa,BASE,1.5,USD\n')).toEqual(rows)
    expect(await read('\uFEFFaddress,chain,amount,currency\r\n0xaa,BASE,1.5,USD\r\n')).toEqual(rows)
    expect(await read('address;chain;amount;currency\r\n0xaa;BASE;1.5;USD')).toEqual(rows)
    expect(await read('address\tchain\tamount\tcurrency\n0xaa\tBASE\t1.5\tUSD\n')).toEqual(rows)
    expect(
      await read('"Address","CHAIN"," Amount ","Currency"\n" 0xaa","BASE"," 1.5 ","USD\u00a0"\n'),
    ).toEqual(rows)
    expect(await read('currency,amount,chain,address,,\nUSD,1.5,BASE,0xaa,,\n')).toEqual(rows)
  })

  it('keeps quotes, separators and lines inside quotes, and counts rows as a spreadsheet does', async () => {
    const found = await read(
      'Recipient ID;amount;currency;reference\n;;;\n\na;1;USD;"x;""y"""\nb;2;USD;"two\nlines"\nc;3;EUR;z\n',
    )
    expect(
      found.map(({ number, cells: { recipient, reference } }) => [number, recipient, reference]),
    ).toEqual([
      [4, 'a', 'x;"y"'],
      [5, 'b', 'two\nlines'],
      [6, 'c', 'z'],
    ])
  })

  it('is refused with the reason and what to do', async () => {
    expect(await problemOf('\n\n')).toContain('is empty')
    expect(await problemOf('recipient,amount,currency\n')).toContain('has no row below')
    expect(await problemOf('recipient,currency\na,USD\n')).toContain(
      'does not name the column amount in row 1',
    )
    expect(await problemOf('amount,currency,address\n1,USD,0xaa\n')).toContain('names nobody to pay')
    expect(await problemOf('recipient,amount,amount,currency\n')).toContain('names the column amount twice')
    expect(await problemOf('recipient,amount,currency\n"a,1,USD\n')).toContain('is not CSV')
    expect(await problemOf('recipient,amount,currency\n\uFFFD,1,USD\n')).toContain('is not UTF-8')
    expect(await problemOf(`recipient,amount,currency\n${'a'.repeat(257)},1,USD\n`)).toContain('of row 2')
    const many = `recipient,amount,currency\n${'a,1,USD\n'.repeat(5_001)}`
    expect(await problemOf(many)).toContain('has more than 5000 rows')
  })

  it('names the columns that it ignores', async () => {
    const { notices } = await readPayoutFile('recipient,amount,currency,memo\na,1,USD,x\n')
    expect(notices).toEqual(['Columns without a meaning here are ignored: "memo".'])
  })
})

describe('an amount', () => {
  it.each([
    ['1234.5', 1_234_500_000n],
    ['0.000001', 1n],
  ])('%s is read', (text, amount) => {
    expect(checkAmount(text, 'usd')).toEqual({ amount, currency: 'USD' })
  })

  it.each([
    ['', 'is missing'],
    ['0', 'above zero'],
    ['-1', 'above zero'],
    ['1,234.50', 'separators of thousands'],
    ['1.234,50', 'separators of thousands'],
    ['1 234.50', 'separators of thousands'],
    ["1'234.50", 'separators of thousands'],
    ['1,234', 'separators of thousands'],
    ['12,5', 'write 12.5'],
    ['$5', 'names a currency'],
    ['5 USD', 'names a currency'],
    ['€ 5', 'names a currency'],
    ['1E+05', 'has an exponent'],
    ['=1+1', 'is a formula'],
    ['+5', 'is a formula'],
    ['five', 'must be a decimal number'],
    ['0.0000001', 'more than 6 decimal places'],
    ['1'.repeat(90), 'must be a decimal number'],
  ])('%j is refused with the reason', (text, reason) => {
    expect(checkAmount(text, 'USD')).toEqual([{ column: 'amount', message: expect.stringContaining(reason) }])
  })

  it('of an unknown currency is refused at that column', () => {
    expect(checkAmount('1', 'GBP')).toEqual([{ column: 'currency', message: 'must be USD or EUR' }])
  })
})
