/** German. */
export default {
  stages: {
    waiting: () => ['Wartet auf Ihre Zahlung', 'Diese Seite zeigt sie, sobald das Netzwerk sie hat.'],
    underpaid: ({ missing, arrived, asked }) => [
      `Es fehlen noch ${missing}`,
      `${arrived} von ${asked} sind eingegangen. Senden Sie auch den Rest.`,
    ],
    confirming: ({ seen }) => [
      'Zahlung gesehen',
      `Das Netzwerk bestätigt gerade ${seen}. Sie müssen nichts mehr tun und können diese Seite schließen.`,
    ],
    received: ({ paid }) => ['Zahlung eingegangen', `Bisher sind ${paid} eingegangen.`],
    paid: ({ paid }) => ['Bezahlt', `${paid} sind eingegangen. Vielen Dank.`],
    overpaid: ({ excess }) => [
      `Bezahlt, ${excess} zu viel`,
      'Der Händler hat den ganzen Betrag und sieht den Unterschied. Bitten Sie ihn, ihn zurückzusenden.',
    ],
    endedUnderpaid: ({ arrived, asked }) => [
      'Die Zeit zum Zahlen ist vorbei',
      `${arrived} von ${asked} sind eingegangen. Senden Sie nichts mehr an die Adresse: Fragen Sie den Händler nach dem Rest oder nach einer Rückzahlung.`,
    ],
    expired: () => [
      'Diese Zahlung ist abgelaufen',
      'Senden Sie nichts mehr an die Adresse. Bitten Sie den Händler um eine neue Zahlung.',
    ],
    cancelled: () => [
      'Der Händler hat diese Zahlung geschlossen',
      'Senden Sie nichts mehr an die Adresse. Fragen Sie den Händler, falls Sie schon gezahlt haben.',
    ],
    failed: () => [
      'Diese Zahlung ist fehlgeschlagen',
      'Senden Sie nichts mehr an die Adresse. Fragen Sie den Händler, was zu tun ist.',
    ],
    refunded: ({ refunded }) => [
      'Zurückgezahlt',
      `Der Händler sendet ${refunded} zurück. Senden Sie nichts mehr an die Adresse.`,
    ],
  },
  problems: {
    unknown: [
      'Dieser Link führt zu keiner Zahlung',
      'Öffnen Sie den ganzen Link, den Sie vom Händler haben, oder bitten Sie ihn um einen neuen.',
    ],
    unavailable: [
      'Diese Zahlung kann gerade nicht gezeigt werden',
      'Laden Sie die Seite gleich noch einmal. Zahlen Sie an keine Adresse, die Sie hier nicht sehen.',
    ],
  },
  progress: {
    refund: { paid: 'Zurückgesendet', failed: 'Nicht zurückgesendet', open: 'Auf dem Rückweg' },
    payment: { paid: 'Eingegangen', failed: 'Nicht eingegangen', lost: 'Wartet wieder auf einen Block' },
    confirmations: (have, need) => `${have} von ${need} ${need === 1 ? 'Bestätigung' : 'Bestätigungen'}`,
  },
  left: {
    days: (days) => `noch ${days} Tage`,
    hours: (hours, minutes) => `noch ${hours} Std. ${minutes} Min.`,
    minutes: (time) => `noch ${time}`,
  },
  payBefore: (time) => `Zu zahlen bis ${time}`,
  payTitle: (amount) => `${amount} zahlen`,
  testNetwork: 'Testnetz: kein echtes Geld',
  paymentTo: 'Zahlung an',
  anyAmount: 'Beliebiger Betrag',
  payments: 'Zahlungen',
  paymentsAndRefunds: 'Zahlungen und Rückzahlungen',
  on: (network) => `auf ${network}`,
  transaction: 'Transaktion',
  copyTransaction: 'Kennung der Transaktion kopieren',
  network: 'Netzwerk',
  networkToPayOn: 'Netzwerk für die Zahlung',
  payOn: 'Zahlen auf',
  amount: 'Betrag',
  copyAmount: 'Betrag kopieren',
  address: 'Adresse',
  copyAddress: 'Adresse kopieren',
  moreAbout: (token, network) => `Mehr über ${token} auf ${network}`,
  itsAddress: 'Adresse des Vertrags',
  copyTokenAddress: (token) => `Adresse von ${token} kopieren`,
  confirmationsNeeded: 'Bestätigungen, die eine Zahlung braucht',
  codeOfPayment: (network) => `QR-Code der Zahlung auf ${network}`,
  codeOfAddress: (network) => `QR-Code der Adresse auf ${network}`,
  openInWallet: 'In Ihrer Wallet öffnen',
  showWholeCode: 'Code der ganzen Zahlung zeigen',
  showAddressCode: 'Code der Adresse allein zeigen',
  captions: {
    payment: 'Scannen Sie dies mit Ihrer Wallet',
    paymentWithAmount: 'Scannen Sie dies mit Ihrer Wallet: Der Betrag ist enthalten',
    address: 'Dieser Code enthält nur die Adresse',
    addressWithAmount: 'Dieser Code enthält nur die Adresse: Geben Sie den Betrag selbst ein',
  },
  only: (token, network) => `Senden Sie nur ${token} auf ${network}.`,
  lost: 'Andere Münzen und Münzen auf einem anderen Netzwerk können verloren gehen.',
  lostAmong:
    'Andere Münzen und Münzen auf einem Netzwerk, das hier nicht angeboten wird, können verloren gehen.',
  returnTo: (host) => `Zurück zu ${host}`,
  still: 'Ohne JavaScript ändert sich diese Seite nicht von selbst.',
  lookAgain: 'Noch einmal nachsehen',
  ofMerchant: 'Name und Beschreibung sind Worte des Händlers.',
  language: 'Sprache',
  copied: 'Kopiert',
  cannotCopy: 'Dieser Browser lässt die Seite nicht kopieren.',
  stale: 'Diese Seite erreicht den Server nicht. Sie versucht es weiter.',
  wallet: {
    payWith: (wallet) => `Mit ${wallet} zahlen`,
    browserWallet: 'Browser-Wallet',
    connecting: (wallet) => `Öffnen Sie ${wallet} und erlauben Sie dieser Seite, Ihr Konto zu sehen.`,
    switching: (wallet, network) => `Lassen Sie ${wallet} zu ${network} wechseln.`,
    asking: (wallet, amount) =>
      `Prüfen Sie Betrag und Adresse in ${wallet} und bestätigen Sie dort, um ${amount} zu zahlen.`,
    sent: 'Ihre Wallet hat die Zahlung gesendet. Diese Seite zeigt sie, sobald das Netzwerk sie hat.',
    slow: 'Das Netzwerk hat sie noch nicht. Sehen Sie in Ihrer Wallet nach, was aus ihr wurde, bevor Sie noch einmal zahlen.',
    payAgain: 'Noch einmal zahlen',
    declined: (wallet) => `Sie haben in ${wallet} abgelehnt. Es wurde nichts gesendet.`,
    busy: (wallet) => `${wallet} zeigt schon eine Anfrage: Beantworten Sie zuerst diese.`,
    noAccount: (wallet) => `${wallet} hat kein Konto gezeigt. Es wurde nichts gesendet.`,
    unknownNetwork: (wallet, network) =>
      `${wallet} kennt ${network} nicht: Fügen Sie das Netzwerk dort hinzu oder zahlen Sie mit dem Code. Es wurde nichts gesendet.`,
    otherNetwork: (wallet, network) =>
      `${wallet} ist auf einem anderen Netzwerk als ${network} und hat nicht gewechselt. Es wurde nichts gesendet.`,
    changed:
      'Diese Zahlung hat sich inzwischen geändert. Es wurde nichts gesendet: Prüfen Sie den Betrag noch einmal.',
    unsure: (wallet) =>
      `${wallet} hat nicht mitgeteilt, ob die Zahlung gesendet wurde. Sehen Sie dort nach, bevor Sie noch einmal zahlen.`,
    failed: (wallet) => `${wallet} konnte nicht gefragt werden. Es wurde nichts gesendet.`,
  },
}
