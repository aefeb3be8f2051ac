// A time as RFC 3339 has it. A leap second is the last of a month in UTC.
function moment(value) {
  var found = /^(\d{4})-(\d\d)-(\d\d)[\x00-\x7f](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(value);
  var n = found && found.map(Number), minutes, utc;
  var good = n && isDate(n[1], n[2], n[3]) && n[4] < 24 && n[5] < 60 && n[6] < 61 && !(n[8] > 23) && !(n[9] > 59);
  if (good && n[6] === 60) {
    minutes = 1440 * daysTo(n[1], n[2], n[3]) + 60 * n[4] + n[5];
    if (found[7]) {
      minutes += (found[7] === "+" ? -1 : 1) * (60 * n[8] + n[9]);
    }
    utc = dateOf(Math.floor((minutes + 1) / 1440));
    good = (minutes + 1) % 1440 === 0 && utc.D === 1;
  }
  if (!good) {
    fail("range", show(value) + " is not a time such as 2026-03-29T12:00:00Z");
  }
}
