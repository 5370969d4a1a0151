/** Reads `BEZANT_COIN_PRICES`: entries such as `ETH=4000.5`, separated by commas. */
export function parseCoinPrices(text: string | undefined): ReadonlyMap<string, bigint> {
  const entries = (text || '').split(',').filter((entry) => entry !== '')
  return new Map(
    entries.map((entry) => {
      const read = /^([A-Z]{1,10}(?:-[A-Z]{2,10})?)=(0|[1-9][0-9]{0,8})(?:\.([0-9]{1,6}))?$/.exec(
        entry.trim(),
      )
      if (!read)
        throw new Error(
          `BEZANT_COIN_PRICES must be symbols with prices in USD, ETH=4000.5,AVAX=30, not "${entry}"`,
        )
      const [, symbol, whole, fraction = ''] = read
      return [symbol!, BigInt(whole! + fraction.padEnd(6, '0'))]
    }),
  )
}
